// Every engine against the reference, on random plans.
//
// MEMVERIFY_AGREEMENT_FIRST and MEMVERIFY_AGREEMENT_SEEDS choose the seeds, and
// MEMVERIFY_AGREEMENT_ENGINE (the beginning of a name) the engines; ctest's `slow` takes 100,000. A
// disagreement is shrunk and written beside the build, with both answers in it.
#include "tests/support/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "sim/replay.h"
#include "sim/simulate.h"
#include "tests/support/describe_result.h"
#include "tests/support/random_plan.h"
#include "tests/support/reference.h"
#include "tools/shrink.h"
#include "verify/smt_verify.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

struct Engine {
  std::string name;
  std::function<EngineResult(const Plan&)> run;
  bool takes_consume = true;  ///< Decides plans whose waits take from semaphores.
};

constexpr ReferenceLimits kLimits{.max_states = 20'000, .max_assignments = 64};
constexpr int kShown = 3;  ///< Disagreements after which a campaign ends.

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// True iff a run shows the finding. MV106 and MV112 may hold by the plan's text alone; the run of
/// an MV111 may have no step.
bool has_run(const Finding& finding) {
  switch (finding.rule) {
    case Rule::kWar:
    case Rule::kRaw:
    case Rule::kWaw:
    case Rule::kWrongVersion:
    case Rule::kUnwritten:
    case Rule::kDeadlock:
      return true;
    case Rule::kBoundary:
    case Rule::kLifetime:
      return !finding.witness.empty();
    default:
      return false;
  }
}

/// "" when sim/replay.h confirms the witness of every finding that a run shows, else a line for
/// each one that it rejects.
std::string unconfirmed(const Plan& plan, const EngineResult& engine) {
  std::string text;
  for (const Finding& finding : engine.findings) {
    if (!has_run(finding)) continue;
    const ReplayResult result = replay(plan, finding);
    if (result.confirmed) continue;
    text += std::string(info(finding.rule).id) + " is not replayed: " + result.reason + "\n";
  }
  return text;
}

/// Both answers to one plan.
struct Comparison {
  bool decided = false;  ///< Both engines took the plan.
  EngineResult reference;
  EngineResult engine;
  std::string difference;
};

void ask(const Plan& plan, const Engine& engine, Comparison& result) {
  result.engine = engine.run(plan);
  result.decided = !undecided(result.engine);
  result.difference = "";
  if (!result.decided) return;
  result.difference =
      disagreement(plan, result.reference, result.engine) + unconfirmed(plan, result.engine);
}

Comparison compare(const PlanJson& json, const Engine& engine) {
  Comparison result;
  const std::optional<Plan> plan = plan_of(json);
  if (!plan) return result;
  result.reference = reference(*plan, kLimits);
  if (refused(result.reference)) return result;
  ask(*plan, engine, result);
  return result;
}

/// The lines of a difference without the names in them: what shrinking must keep.
std::set<std::string> kinds(const std::string& difference) {
  std::set<std::string> result;
  for (std::size_t begin = 0; begin < difference.size();) {
    const std::size_t end = difference.find('\n', begin);
    const std::string line = difference.substr(begin, end - begin);
    const std::size_t rule = line.find("MV");
    result.insert(rule == std::string::npos ? line : line.substr(0, rule + 5));
    begin = end + 1;
  }
  return result;
}

std::set<Rule> rules(const Comparison& comparison) {
  std::set<Rule> result;
  for (const EngineResult* one : {&comparison.reference, &comparison.engine}) {
    for (const Finding& finding : one->findings) result.insert(finding.rule);
  }
  return result;
}

/// A smaller plan with a difference of the same kind, and without rules that were not there before.
PlanJson shrunk(const PlanJson& json, const Comparison& original, const Engine& engine) {
  const std::set<std::string> kept = kinds(original.difference);
  const std::set<Rule> known = rules(original);
  return shrink(json, [&](const PlanJson& candidate) {
    const Comparison now = compare(candidate, engine);
    return !now.difference.empty() && std::ranges::includes(kept, kinds(now.difference)) &&
           std::ranges::includes(known, rules(now));
  });
}

/// Writes the plan with both answers, and returns them.
std::string report(PlanJson json, const Engine& engine, const std::string& file) {
  const Plan plan = *plan_of(json);
  const Comparison comparison = compare(json, engine);
  json["x-reference"] = describe(plan, comparison.reference);
  json["x-engine"] = describe(plan, comparison.engine);
  const std::filesystem::path folder(MEMVERIFY_DISAGREEMENTS);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / file) << json.dump(1) << "\n";
  return comparison.difference + (folder / file).string() + "\n" + json.dump();
}

/// A wait that takes from a semaphore is what happens-before leaves to the others.
bool consumes(const PlanJson& json) {
  return json.dump().find("\"consume\":true") != std::string::npos;
}

EngineResult run_happens_before(const Plan& plan) {
  return verify_happens_before(plan, {.max_findings = 1000});
}

EngineResult run_solver(const Plan& plan) { return verify_smt(plan, {.max_findings = 1000}); }

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

}  // namespace
}  // namespace memverify::testing
