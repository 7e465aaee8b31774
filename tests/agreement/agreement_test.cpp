// Every engine against the reference, on random plans.
//
// MEMVERIFY_AGREEMENT_FIRST and MEMVERIFY_AGREEMENT_SEEDS choose the seeds, and
// MEMVERIFY_AGREEMENT_ENGINE (the beginning of a name) the engines; ctest's `slow` takes 100,000. A
// disagreement is shrunk and written beside the build, with both answers in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "sim/simulate.h"
#include "tests/agreement/compare.h"
#include "tests/support/describe_result.h"
#include "tests/support/random_plan.h"
#include "tests/support/reference.h"
#include "verify/smt_verify.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

constexpr int kShown = 3;  ///< Disagreements after which a campaign ends.

/// A wait that takes from a semaphore is what happens-before leaves to the others.
bool consumes(const PlanJson& json) {
  return json.dump().find("\"consume\":true") != std::string::npos;
}

EngineResult run_happens_before(const Plan& plan) {
  return verify_happens_before(plan, {.max_findings = 1000});
}

/// Every other plan is divided among several solvers, as else only hard ones are.
EngineResult run_solver(const Plan& plan) {
  SmtOptions options{.max_findings = 1000};
  if (plan.ops.size() % 2 != 0) options.first_steps = 0;
  return verify_smt(plan, options);
}

/// Simulates under every reduction and holds against each other what they had to do.
class Simulators {
 public:
  EngineResult run(const Plan& plan, Reduction reduction) {
    SimOptions options;
    options.reduction = reduction;
    options.max_findings = 1000;
    SimStats stats;
    const EngineResult result = simulate(plan, options, stats);
    transitions_[static_cast<std::size_t>(reduction)] += stats.transitions;
    return result;
  }

  void expect_less_and_less() const {
    EXPECT_LT(transitions_[1], transitions_[0]);
    EXPECT_LT(transitions_[2], transitions_[1]);
    std::cout << "transitions: none " << transitions_[0] << ", sleep " << transitions_[1]
              << ", classes " << transitions_[2] << "\n";
  }

 private:
  std::array<std::uint64_t, 3> transitions_{};  ///< By reduction.
};

std::vector<Engine> engines(Simulators& simulators) {
  const auto simulator = [&](Reduction reduction) {
    return [&simulators, reduction](const Plan& plan) { return simulators.run(plan, reduction); };
  };
  std::vector<Engine> all = {{"hb", run_happens_before, false},
                             {"smt", run_solver},
                             {"sim-none", simulator(Reduction::kNone)},
                             {"sim-sleep", simulator(Reduction::kSleep)},
                             {"sim-classes", simulator(Reduction::kClasses)}};
  if (const char* name = std::getenv("MEMVERIFY_AGREEMENT_ENGINE")) {
    std::erase_if(all, [&](const Engine& engine) { return !engine.name.starts_with(name); });
  }
  return all;
}

TEST(Agreement, EveryEngineAndTheReference) {
  const std::uint64_t first = setting("MEMVERIFY_AGREEMENT_FIRST", 0);
  const std::uint64_t count = setting("MEMVERIFY_AGREEMENT_SEEDS", 600);
  Simulators simulators;
  const std::vector<Engine> all = engines(simulators);
  std::vector<std::uint64_t> compared(all.size(), 0);
  int shown = 0;
  for (std::uint64_t seed = first; seed < first + count && shown < kShown; ++seed) {
    const PlanJson json = random_mutated_plan(seed);
    const std::optional<Plan> plan = plan_of(json);
    if (!plan) continue;
    Comparison comparison;
    comparison.reference = reference(*plan, kLimits);
    if (refused(comparison.reference)) continue;
    for (std::size_t e = 0; e < all.size(); ++e) {
      SCOPED_TRACE(all[e].name + ", seed " + std::to_string(seed));
      ask(*plan, all[e], comparison);
      EXPECT_TRUE(comparison.decided || (!all[e].takes_consume && consumes(json))) << json.dump();
      compared[e] += comparison.decided ? 1 : 0;
      if (comparison.difference.empty()) continue;
      const PlanJson small = shrunk(json, comparison, all[e]);
      ADD_FAILURE() << report(small, all[e], all[e].name + "-" + std::to_string(seed) + ".json");
      ++shown;
    }
  }
  for (std::size_t e = 0; e < all.size(); ++e) {
    std::cout << all[e].name << ": " << compared[e] << " of " << count << " plans compared\n";
    if (shown == 0) {
      EXPECT_GE(compared[e], count * 8 / 10);
    }
  }
  if (shown == 0 && all.size() > 1) simulators.expect_less_and_less();
}

/// The plan with tensors that leave out some of their bytes: every other one, or pairs of them.
PlanJson with_gaps(PlanJson plan, std::uint64_t seed) {
  for (PlanJson& tensor : plan["tensors"]) {
    const auto bytes = tensor.find("bytes");
    if (bytes == tensor.end() || !bytes->is_number_integer() || bytes->get<std::int64_t>() < 4)
      continue;
    const std::int64_t size = bytes->get<std::int64_t>();
    const std::uint64_t choice = (seed = seed * 6364136223846793005U + 1) >> 62;
    if (choice == 0) continue;
    tensor.erase("bytes");
    tensor["dtype"] = "u8";
    tensor["shape"] = choice == 1 ? PlanJson({size / 2}) : PlanJson({(size + 1) / 3, 2});
    tensor["strides"] = choice == 1 ? PlanJson({2}) : PlanJson({3, 1});
  }
  return plan;
}

/// The same findings of the same bytes, with the same runs, in the same order.
void expect_same(const Plan& plan, const EngineResult& result, const EngineResult& expected) {
  EXPECT_EQ(describe(plan, result), describe(plan, expected));
  ASSERT_EQ(result.findings.size(), expected.findings.size());
  for (std::size_t k = 0; k < expected.findings.size(); ++k) {
    EXPECT_EQ(result.findings[k].rule, expected.findings[k].rule);
    EXPECT_EQ(result.findings[k].ops, expected.findings[k].ops);
    EXPECT_EQ(result.findings[k].bytes, expected.findings[k].bytes);
    EXPECT_EQ(result.findings[k].witness, expected.findings[k].witness);
  }
}

TEST(Agreement, SweepsByPlacesChangeNothing) {
  const std::uint64_t first = setting("MEMVERIFY_AGREEMENT_FIRST", 0);
  const std::uint64_t count = setting("MEMVERIFY_AGREEMENT_SEEDS", 600);
  std::uint64_t safe = 0;
  std::uint64_t fewer = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::optional<Plan> plan = plan_of(with_gaps(random_mutated_plan(seed), seed));
    if (!plan) continue;
    const EngineResult plain = verify_happens_before(*plan, {.gather_from = ~std::uint64_t{0}});
    const EngineResult gathered = verify_happens_before(*plan, {.gather_from = 0});
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same(*plan, gathered, plain);
    EXPECT_LE(gathered.stats.pairs_checked, plain.stats.pairs_checked);
    safe += plain.verdict == Verdict::kSafe ? 1 : 0;
    fewer += gathered.stats.pairs_checked < plain.stats.pairs_checked ? 1 : 0;
  }
  std::cout << safe << " safe, " << fewer << " with fewer pairs\n";
  EXPECT_GT(fewer, 0U);
}

}  // namespace
}  // namespace memverify::testing
