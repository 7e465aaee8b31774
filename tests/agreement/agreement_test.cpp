// Every engine against the reference, on random plans.
//
// MEMVERIFY_AGREEMENT_FIRST and MEMVERIFY_AGREEMENT_SEEDS choose the seeds; ctest's `slow` takes
// 100,000. A disagreement is shrunk and written beside the build, with both answers in it.
#include "tests/support/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>
#include <string>

#include "sim/replay.h"
#include "tests/support/describe_result.h"
#include "tests/support/random_plan.h"
#include "tests/support/reference.h"
#include "tests/support/shrink.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

using Engine = std::function<EngineResult(const Plan&)>;

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

Comparison compare(const PlanJson& json, const Engine& engine) {
  Comparison result;
  const std::optional<Plan> plan = plan_of(json);
  if (!plan) return result;
  result.reference = reference(*plan, kLimits);
  if (refused(result.reference)) return result;
  result.engine = engine(*plan);
  result.decided = !undecided(result.engine);
  if (result.decided) {
    result.difference =
        disagreement(*plan, result.reference, result.engine) + unconfirmed(*plan, result.engine);
  }
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

void campaign(const std::string& name, const Engine& engine, bool takes_consume) {
  const std::uint64_t first = setting("MEMVERIFY_AGREEMENT_FIRST", 0);
  const std::uint64_t count = setting("MEMVERIFY_AGREEMENT_SEEDS", 600);
  std::uint64_t compared = 0;
  int shown = 0;
  for (std::uint64_t seed = first; seed < first + count && shown < kShown; ++seed) {
    const PlanJson json = random_mutated_plan(seed);
    const Comparison comparison = compare(json, engine);
    if (!comparison.decided) {
      EXPECT_TRUE(refused(comparison.reference) || (!takes_consume && consumes(json)))
          << name << " does not decide seed " << seed << "\n"
          << json.dump();
      continue;
    }
    ++compared;
    if (comparison.difference.empty()) continue;
    const PlanJson small = shrunk(json, comparison, engine);
    ADD_FAILURE() << name << " disagrees on seed " << seed << "\n"
                  << report(small, engine, name + "-" + std::to_string(seed) + ".json");
    ++shown;
  }
  std::cout << name << ": " << compared << " of " << count << " plans compared\n";
  if (shown == 0) {
    EXPECT_GE(compared, count * 8 / 10);
  }
}

TEST(Agreement, HappensBeforeAndTheReference) {
  campaign(
      "hb", [](const Plan& plan) { return verify_happens_before(plan, {.max_findings = 1000}); },
      false);
}

}  // namespace
}  // namespace memverify::testing
