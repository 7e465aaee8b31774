// Happens-before against the reference and the simulator where several queues take from one
// semaphore: random plans of the shape that it decides (verify/one_semaphore.h), witnesses
// replayed.
//
// MEMVERIFY_SEMAPHORE_FIRST and MEMVERIFY_SEMAPHORE_SEEDS choose the seeds.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "sim/simulate.h"
#include "tests/agreement/compare.h"
#include "tests/support/describe_result.h"
#include "tests/support/random_plan.h"
#include "tests/support/reference.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

EngineResult by_clocks(const Plan& plan) {
  return verify_happens_before(plan, {.max_findings = 1000});
}

EngineResult by_simulation(const Plan& plan) {
  SimStats stats;
  return simulate(plan, {.reduction = Reduction::kClasses, .max_findings = 1000}, stats);
}

/// Two to four serial queues that take from one semaphore and give to it; ops before that all wait
/// for, and one after that waits for some.
class TakersPlan {
 public:
  explicit TakersPlan(std::uint64_t seed) : draw_(seed) {}

  PlanJson make() {
    most_ = draw_.percent(50) ? 1 : 3;
    fair_ = draw_.percent(60) ? 100 : 50;
    dense_ = draw_.of(std::vector<std::size_t>{5, 15, 45});
    PlanJson plan = PlanJson::parse(R"({"memverify": 1, "pools": [{"id": "p"}],
      "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8},
                   {"id": "t", "pool": "p", "offset": 4, "bytes": 8},
                   {"id": "u", "pool": "p", "offset": 16, "bytes": 8}],
      "tensors": [{"id": "a", "storage": "s", "bytes": 8}, {"id": "b", "storage": "t", "bytes": 8},
                  {"id": "c", "storage": "u", "bytes": 8}],
      "inputs": ["a", "c"], "donated": ["a", "c"]})");
    if (draw_.percent(40)) plan["outputs"] = PlanJson::array({draw_.percent(50) ? "a" : "b"});
    const auto queues = static_cast<int>(draw_.between(2, 4));
    for (int q = 0; q < queues; ++q) plan["queues"].push_back({{"id", name('q', q)}});
    plan["semaphores"] = PlanJson::array(
        {{{"id", "tokens"}, {"initial", draw_.between(fair_ == 100 ? most_ : 0, most_ + 1)}}});
    if (draw_.percent(40)) plan["queues"].push_back({{"id", "first"}});
    const bool has_first = draw_.percent(50);
    if (has_first) {
      const bool apart = plan["queues"].back()["id"] == "first";
      PlanJson op = access({{"id", "before"}, {"queue", apart ? "first" : "q0"}});
      op["signals"] = PlanJson::array({{{"event", "ready"}}});
      if (draw_.percent(30)) op["signals"].push_back(give());
      ops_.push_back(op);
    }
    for (int q = 0; q < queues; ++q) {
      if (draw_.percent(fair_)) {
        section(q, has_first);
      } else {
        anything(q, has_first);
      }
    }
    for (std::size_t k = ops_.size(); k > 1 && draw_.percent(60); --k) mix(k);
    if (draw_.percent(60)) last(queues);
    plan["ops"] = ops_;
    return plan;
  }

 private:
  static std::string name(char letter, int number) { return letter + std::to_string(number); }

  PlanJson access(PlanJson op) {
    static const std::array<const char*, 3> kTensors = {"a", "b", "c"};
    for (int k = 0; k < 2; ++k) {
      if (!draw_.percent(dense_)) continue;
      const char* how = draw_.percent(50) ? "writes" : "reads";
      if (!op.contains(how)) op[how] = PlanJson::array({kTensors[draw_.below(3)]});
    }
    // What is read and written in one op may not overlap: one of the two goes.
    if (op.contains("writes") && op.contains("reads"))
      op.erase(draw_.percent(50) ? "writes" : "reads");
    return op;
  }
  PlanJson take() {
    const bool consumes = draw_.percent(92);
    return {{"semaphore", "tokens"}, {"value", draw_.between(1, most_)}, {"consume", consumes}};
  }
  PlanJson give() { return {{"semaphore", "tokens"}, {"value", draw_.between(1, most_)}}; }

  PlanJson& add(int queue, bool waits) {
    PlanJson op =
        access({{"id", name('x', static_cast<int>(ops_.size()))}, {"queue", name('q', queue)}});
    op["waits"] = PlanJson::array();
    op["signals"] = PlanJson::array();
    if (waits) op["waits"].push_back({{"event", "ready"}});
    ops_.push_back(op);
    return ops_.back();
  }

  /// Take, work, give back the same.
  void section(int queue, bool waits) {
    const int length = static_cast<int>(draw_.between(1, 2));
    const PlanJson wait = take();
    for (int k = 0; k < length; ++k) {
      PlanJson& op = add(queue, waits && k == 0);
      if (k == 0) op["waits"].push_back(wait);
      if (k + 1 == length && wait["consume"] == true && draw_.percent(fair_ == 100 ? 99 : 90)) {
        op["signals"].push_back({{"semaphore", "tokens"}, {"value", wait["value"]}});
      }
    }
    if (draw_.percent(30)) add(queue, false);
  }

  void anything(int queue, bool waits) {
    const auto length = draw_.between(1, 3);
    for (int k = 0; k < length; ++k) {
      PlanJson& op = add(queue, waits && k == 0);
      if (draw_.percent(45)) op["waits"].push_back(take());
      if (draw_.percent(45)) op["signals"].push_back(give());
    }
  }

  /// Swaps neighbours of different queues: nothing but program order changes.
  void mix(std::size_t k) {
    if (ops_[k - 1]["queue"] == ops_[k - 2]["queue"] || ops_[k - 2]["id"] == "before") return;
    std::swap(ops_[k - 1], ops_[k - 2]);
  }

  /// An op that comes after something of several queues.
  void last(int queues) {
    PlanJson after = PlanJson::array();
    for (const PlanJson& op : ops_) {
      if (draw_.percent(40)) after.push_back(op["id"]);
    }
    const std::string queue =
        name('q', static_cast<int>(draw_.below(static_cast<std::size_t>(queues))));
    PlanJson op = access({{"id", "after"}, {"queue", queue}});
    op["after"] = after;
    ops_.push_back(op);
  }

  Draw draw_;
  std::int64_t most_ = 1;   ///< The greatest amount.
  std::size_t fair_ = 50;   ///< Queues in a hundred that give back what they take.
  std::size_t dense_ = 45;  ///< Accesses in a hundred chances.
  PlanJson ops_ = PlanJson::array();
};

/// How many queues take.
std::size_t takers(const PlanJson& json) {
  std::set<std::string> queues;
  for (const PlanJson& op : json["ops"]) {
    if (op.dump().find("\"consume\":true") != std::string::npos) queues.insert(op["queue"]);
  }
  return queues.size();
}

TEST(OneSemaphore, HappensBeforeAndTheSimulatorAgreeWithTheReference) {
  const std::vector<Engine> engines = {{"hb", by_clocks}, {"sim-classes", by_simulation}};
  const std::uint64_t first = setting("MEMVERIFY_SEMAPHORE_FIRST", 0);
  const std::uint64_t count = setting("MEMVERIFY_SEMAPHORE_SEEDS", 400);
  std::array<std::uint64_t, 3> verdicts{};
  std::uint64_t compared = 0;
  std::uint64_t open = 0;
  std::uint64_t contended = 0;
  int shown = 0;
  for (std::uint64_t seed = first; seed < first + count && shown < 3; ++seed) {
    const PlanJson json = TakersPlan(seed).make();
    const std::optional<Plan> plan = plan_of(json);
    ASSERT_TRUE(plan) << json.dump();
    Comparison comparison;
    comparison.reference = reference(*plan, kLimits);
    if (refused(comparison.reference)) continue;
    ++compared;
    contended += takers(json) > 1 ? 1 : 0;
    for (const Engine& engine : engines) {
      ask(*plan, engine, comparison);
      if (&engine == &engines.front()) {
        open += comparison.decided ? 0 : 1;
        if (!comparison.decided && std::getenv("MEMVERIFY_SEMAPHORE_SHOW") != nullptr) {
          for (const Finding& f : comparison.engine.findings) {
            if (f.rule == Rule::kNotProven) std::cout << seed << ": " << f.message << "\n";
          }
        }
        if (comparison.decided) ++verdicts[static_cast<std::size_t>(comparison.engine.verdict)];
      }
      if (comparison.difference.empty()) continue;
      SCOPED_TRACE(engine.name + ", seed " + std::to_string(seed));
      const PlanJson small = shrunk(json, comparison, engine);
      ADD_FAILURE() << report(small, engine, "takers-" + std::to_string(seed) + ".json");
      ++shown;
    }
  }
  std::cout << compared << " of " << count << " plans compared: " << verdicts[0] << ", "
            << verdicts[1] << ", " << verdicts[2] << " by verdict, " << open << " left open\n";
  if (shown > 0) return;
  EXPECT_EQ(compared, count);
  EXPECT_GT(verdicts[0], count / 5);
  EXPECT_GT(verdicts[1], count / 5);
  EXPECT_GT(contended, count * 8 / 10);
  EXPECT_LE(open, count / 50);
}

}  // namespace
}  // namespace memverify::testing
