// Every engine against the reference, on every plan of a small scope: up to four ops on two serial
// queues, each reading or writing one of two tensors that share bytes, and at most one event, which
// one op signals and another waits for, earlier or later in program order. The fast test takes all
// of up to three ops and every 199th of four; ctest's `slow` takes all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "sim/simulate.h"
#include "tests/agreement/compare.h"
#include "verify/smt_verify.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

const std::vector<Engine>& engines() {
  static const std::vector<Engine> kEngines = {
      {"hb", [](const Plan& plan) { return verify_happens_before(plan, {}); }},
      {"smt", [](const Plan& plan) { return verify_smt(plan, {}); }},
      {"sim-none",
       [](const Plan& plan) {
         SimStats stats;
         return simulate(plan, {}, stats);
       }},
      {"sim-classes", [](const Plan& plan) {
         SimStats stats;
         return simulate(plan, {.reduction = Reduction::kClasses}, stats);
       }}};
  return kEngines;
}

/// One plan of `count` ops: op k does `(deeds >> 2k) % 4` on queue `(queues >> k) % 2`; `event` 0
/// is none, else a pair of different ops.
struct Shape {
  unsigned count = 0;
  unsigned deeds = 0;   ///< In [0, 4^count).
  unsigned queues = 0;  ///< In [0, 2^(count - 1)): the last op is on queue 0.
  unsigned event = 0;   ///< In [0, count * (count - 1)].
};

PlanJson plan_of(const Shape& shape) {
  PlanJson ops = PlanJson::array();
  for (unsigned k = 0; k < shape.count; ++k) {
    const unsigned deed = (shape.deeds >> (2 * k)) % 4;
    const char* tensor = deed % 2 == 0 ? "a" : "b";
    ops.push_back({{"id", "op" + std::to_string(k)},
                   {"queue", ((shape.queues >> k) % 2) == 0 ? "q" : "r"},
                   {deed < 2 ? "writes" : "reads", PlanJson::array({tensor})}});
  }
  if (shape.event > 0) {
    const unsigned signals = (shape.event - 1) / (shape.count - 1);
    unsigned waits = (shape.event - 1) % (shape.count - 1);
    waits += waits >= signals ? 1 : 0;
    const PlanJson event = {{"event", "e"}};
    ops[signals]["signals"] = PlanJson::array({event});
    ops[waits]["waits"] = PlanJson::array({event});
  }
  PlanJson plan = PlanJson::parse(R"({"memverify": 1, "pools": [{"id": "p"}],
      "queues": [{"id": "q"}, {"id": "r"}],
      "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8},
                   {"id": "t", "pool": "p", "offset": 4, "bytes": 8}],
      "tensors": [{"id": "a", "storage": "s", "bytes": 8}, {"id": "b", "storage": "t", "bytes": 8}],
      "inputs": ["a"], "donated": ["a"]})");
  plan["ops"] = std::move(ops);
  return plan;
}

/// Every `stride`-th plan of `count` ops; returns how many.
std::size_t compare_all(unsigned count, std::size_t stride) {
  std::size_t seen = 0;
  std::size_t compared = 0;
  const unsigned deeds = 1U << (2 * count);
  for (Shape shape{.count = count}; shape.deeds < deeds; ++shape.deeds) {
    for (shape.queues = 0; shape.queues < 1U << (count - 1); ++shape.queues) {
      for (shape.event = 0; shape.event <= count * (count - 1); ++shape.event) {
        if (seen++ % stride != 0) continue;
        ++compared;
        const PlanJson json = plan_of(shape);
        const Plan plan = *testing::plan_of(json);
        Comparison comparison{.reference = reference(plan, kLimits)};
        for (const Engine& engine : engines()) {
          ask(plan, engine, comparison);
          EXPECT_TRUE(comparison.decided) << engine.name << json.dump();
          EXPECT_EQ(comparison.difference, "") << engine.name << json.dump();
          if (::testing::Test::HasFailure()) return compared;
        }
      }
    }
  }
  return compared;
}

TEST(SmallScope, AllEnginesAgreeOnEveryPlan) {
  const bool all = std::getenv("MEMVERIFY_SMALL_SCOPE_ALL") != nullptr;
  std::size_t compared = compare_all(1, 1) + compare_all(2, 1) + compare_all(3, 1);
  EXPECT_EQ(compared, 4U + 16U * 2U * 3U + 64U * 4U * 7U);
  compared += compare_all(4, all ? 1 : 199);
  std::cout << compared << " plans compared\n";
}

}  // namespace
}  // namespace memverify::testing
