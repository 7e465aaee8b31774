// Every labelled plan of the corpus, against its x-expect.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "sim/replay.h"
#include "sim/simulate.h"

namespace memverify {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxStates = 20'000;  ///< A plan that has more is not compared.

std::vector<std::filesystem::path> plans_of(std::string_view folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(MEMVERIFY_CORPUS) / folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

Json expectation(const Plan& plan) {
  for (const Extra& extra : plan.extras) {
    if (extra.owner.empty() && extra.key == "x-expect") return Json::parse(extra.json);
  }
  return {};
}

std::set<std::string> names_in(const Plan& plan, const Finding& finding) {
  std::set<std::string> names;
  for (OpId op : finding.ops) names.emplace(plan.ops[op].name);
  for (TensorId tensor : finding.tensors) {
    if (tensor != kNone<TensorId>) names.emplace(plan.tensors[tensor].name);
  }
  for (StorageId storage : finding.storages) {
    if (storage != kNone<StorageId>) names.emplace(plan.storages[storage].name);
  }
  if (finding.pool != kNone<PoolId>) names.emplace(plan.pools[finding.pool].name);
  return names;
}

bool fulfils(const Plan& plan, const Finding& finding, const Json& wanted) {
  const auto rule = wanted[0].get<std::string>();
  if (info(finding.rule).id != rule) return false;
  const std::vector<std::string> ids(wanted.begin() + 1, wanted.end());
  if (rule == "MV101" || rule == "MV102" || rule == "MV103") {
    std::vector<std::string> ops;
    for (OpId op : finding.ops) ops.emplace_back(plan.ops[op].name);
    return ops == ids;
  }
  const std::set<std::string> names = names_in(plan, finding);
  const auto named = [&](const std::string& id) { return names.contains(id); };
  const bool one_is_enough = rule == "MV106" || rule == "MV111" || rule == "MV112";
  return ids.empty() ||
         (one_is_enough ? std::ranges::any_of(ids, named) : std::ranges::all_of(ids, named));
}

std::string summary(const Plan& plan, const EngineResult& result) {
  std::string text(name(result.verdict));
  for (const Finding& finding : result.findings) {
    text += "\n  " + std::string(info(finding.rule).id);
    for (OpId op : finding.ops) text += " " + std::string(plan.ops[op].name);
    text += ": " + finding.message;
  }
  return text;
}

/// Every fault that a run shows has a run that shows it.
void expect_replayed(const Plan& plan, const EngineResult& result) {
  for (const Finding& finding : result.findings) {
    if (finding.witness.empty()) {
      EXPECT_GT(finding.rule, Rule::kUnwritten) << finding.message;
      continue;
    }
    const ReplayResult replayed = replay(plan, finding);
    EXPECT_TRUE(replayed.confirmed) << finding.message << "\n" << replayed.reason;
  }
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, SimulationFindsWhatIsExpectedAndItsWitnessesReplay) {
  std::size_t compared = 0;
  for (const auto& path : plans_of(GetParam())) {
    SCOPED_TRACE(path.filename().string());
    const Result<Plan> read = read_plan_file(path.string());
    if (!read.ok()) {
      ADD_FAILURE() << to_string(read.errors().front());
      continue;
    }
    const Plan& plan = read.value();
    const Json wanted = expectation(plan);
    if (wanted.is_null()) continue;
    SimOptions options;
    options.max_states = kMaxStates;
    SimStats stats;
    const EngineResult result = simulate(plan, options, stats);
    expect_replayed(plan, result);
    if (!stats.stopped.empty()) {
      EXPECT_NE(result.verdict, Verdict::kSafe);
      continue;
    }
    ++compared;
    // What has no bound cannot be proven by search; its bugs are found all the same.
    const bool unbounded = !plan.iterations && wanted["verdict"] == "safe";
    EXPECT_EQ(name(result.verdict), unbounded ? "unknown" : wanted["verdict"].get<std::string>())
        << summary(plan, result);
    for (const Json& finding : wanted["findings"]) {
      EXPECT_TRUE(std::ranges::any_of(result.findings,
                                      [&](const Finding& f) { return fulfils(plan, f, finding); }))
          << "missing " << finding << " in " << summary(plan, result);
    }
  }
  EXPECT_GT(compared, 10U);
}

TEST_P(Corpus, ValuesInTheStateChangeNothing) {
  for (const auto& path : plans_of(GetParam())) {
    SCOPED_TRACE(path.filename().string());
    const Result<Plan> read = read_plan_file(path.string());
    if (!read.ok()) continue;
    const Plan& plan = read.value();
    SimOptions options;
    options.max_states = kMaxStates;
    SimStats stats;
    const EngineResult plain = simulate(plan, options, stats);
    options.always_track_values = true;
    SimStats tracked_stats;
    const EngineResult tracked = simulate(plan, options, tracked_stats);
    if (!stats.stopped.empty() || !tracked_stats.stopped.empty()) continue;
    EXPECT_EQ(summary(plan, plain), summary(plan, tracked));
    EXPECT_GE(tracked_stats.states, stats.states);
  }
}

std::string rules_and_ops(const Plan& plan, const EngineResult& result) {
  std::string text(name(result.verdict));
  for (const Finding& finding : result.findings) {
    text += "\n  " + std::string(info(finding.rule).id);
    for (OpId op : finding.ops) text += " " + std::string(plan.ops[op].name);
  }
  return text;
}

TEST_P(Corpus, ReductionsFindTheSameWithLess) {
  std::array<std::uint64_t, 3> transitions{};
  for (const auto& path : plans_of(GetParam())) {
    SCOPED_TRACE(path.filename().string());
    const Result<Plan> read = read_plan_file(path.string());
    if (!read.ok()) continue;
    std::array<std::string, 3> found;
    std::array<SimStats, 3> stats;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto reduction = static_cast<Reduction>(i);
      found[i] = rules_and_ops(
          read.value(),
          simulate(read.value(), {.reduction = reduction, .max_states = kMaxStates}, stats[i]));
    }
    if (!stats[0].stopped.empty()) continue;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(found[i], found[0]);
      transitions[i] += stats[i].transitions;
    }
  }
  EXPECT_LT(transitions[1], transitions[0]);
  EXPECT_LT(transitions[2], transitions[1]);
}

INSTANTIATE_TEST_SUITE_P(Folders, Corpus, testing::Values("bugs", "format", "peers"),
                         [](const auto& folder) { return folder.param; });

}  // namespace
}  // namespace memverify
