#include "tests/agreement/compare.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "sim/replayer.h"
#include "tests/support/agreement.h"
#include "tests/support/describe_result.h"
#include "tools/shrink.h"

namespace memverify::testing {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

namespace {

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
  Replayer replayer(plan);
  for (const Finding& finding : engine.findings) {
    if (!has_run(finding)) continue;
    const ReplayResult result = replayer.replay(finding);
    if (result.confirmed) continue;
    text += std::string(info(finding.rule).id) + " is not replayed: " + result.reason + "\n";
  }
  return text;
}

}  // namespace

void ask(const Plan& plan, const Engine& engine, Comparison& result) {
  result.engine = engine.run(plan);
  result.decided = !undecided(result.engine);
  result.difference = "";
  if (!result.decided) return;
  result.difference =
      disagreement(plan, result.reference, result.engine) + unconfirmed(plan, result.engine);
}

namespace {

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

}  // namespace

PlanJson shrunk(const PlanJson& json, const Comparison& original, const Engine& engine) {
  const std::set<std::string> kept = kinds(original.difference);
  const std::set<Rule> known = rules(original);
  return shrink(json, [&](const PlanJson& candidate) {
    const Comparison now = compare(candidate, engine);
    return !now.difference.empty() && std::ranges::includes(kept, kinds(now.difference)) &&
           std::ranges::includes(known, rules(now));
  });
}

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

}  // namespace memverify::testing
