// What one replay has laid out serves the next one without changing what it says, on random plans.
#include "sim/replayer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/random_plan.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using testing::plan_of;
using testing::random_mutated_plan;

/// The findings that have a run, and near each some that its run shows less often.
std::vector<Finding> findings_and_neighbours(const Plan& plan) {
  std::vector<Finding> all;
  std::vector<Step> other;
  for (const Finding& finding : verify_happens_before(plan, {}).findings) {
    if (finding.witness.empty()) continue;
    all.push_back(finding);
    all.push_back(finding);
    all.back().witness.pop_back();
    all.push_back(finding);
    all.back().witness = other;
    all.push_back(finding);
    all.back().bytes = {};
    all.push_back(finding);
    all.back().when.clear();
    all.push_back(finding);
    all.back().bytes = {finding.bytes.begin - 1, finding.bytes.begin + 1};
    other = finding.witness;
  }
  return all;
}

std::string told(const ReplayResult& result) {
  return result.confirmed ? "confirmed" : result.reason;
}

TEST(Replayer, SaysOfEachRunWhatAReplayOnItsOwnSays) {
  std::map<Rule, int> confirmed;
  int refused = 0;
  std::uint64_t shared_steps = 0;
  std::uint64_t steps = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    testing::PlanJson json = random_mutated_plan(seed);
    if (seed % 4 == 1) json["iterations"] = "unbounded";
    const std::optional<Plan> plan = plan_of(json);
    if (!plan) continue;
    Replayer replayer(*plan);
    std::vector<Finding> findings = findings_and_neighbours(*plan);
    for (int turn = 0; turn < 2; ++turn) {
      for (const Finding& finding : findings) {
        const ReplayResult shared = replayer.replay(finding);
        const ReplayResult alone = replay(*plan, finding);
        EXPECT_EQ(told(shared), told(alone)) << "seed " << seed;
        EXPECT_LE(shared.steps, alone.steps) << "seed " << seed;
        shared.confirmed ? ++confirmed[finding.rule] : ++refused;
        shared_steps += shared.steps;
        steps += alone.steps;
      }
      std::ranges::reverse(findings);
    }
  }
  for (const Rule rule : {Rule::kWar, Rule::kRaw, Rule::kWaw, Rule::kWrongVersion, Rule::kUnwritten,
                          Rule::kBoundary, Rule::kDeadlock, Rule::kLifetime}) {
    EXPECT_GT(confirmed[rule], 20) << info(rule).id;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(shared_steps, steps * 9 / 10);
}

/// All that tells one map from another, but for the numbers of its footprints.
std::string told(const sim::Program& program, const sim::ByteMap& map) {
  std::string text;
  const auto add = [&](auto number) { text += std::to_string(number) + ' '; };
  const auto add_cells = [&](std::uint32_t footprint) {
    for (const sim::CellId cell : map.footprints[footprint]) add(cell);
  };
  for (const sim::CommandId c : ids(program.commands)) {
    text += "\n" + std::to_string(index(c)) + ": ";
    for (const sim::Touch& touch : map.touches_of(c)) {
      add(static_cast<int>(touch.kind));
      add(touch.access);
      add(touch.instance);
      add_cells(touch.footprint);
    }
    for (const sim::Effect& effect : map.effects_of(c)) {
      text += "e ";
      add(effect.cell);
      add(static_cast<int>(effect.kind));
    }
  }
  for (const sim::Cell& cell : map.cells) {
    text += "\ncell ";
    add(cell.first.begin);
    add(cell.first.end);
    add(cell.initial.size());
    add(cell.unknowns.size());
  }
  for (const sim::EndRead& read : map.end_reads) add_cells(read.footprint);
  add(map.histories.size());
  add(map.allocs.size());
  return text;
}

TEST(Reach, LeavesOutNoCommandThatTouchesTheWindow) {
  int plans = 0;
  std::size_t left_out = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::optional<Plan> plan = plan_of(random_mutated_plan(seed));
    if (!plan) continue;
    sim::Case settled{.iterations = plan->iterations.value_or(2)};
    settled.unrolled = settled.iterations;
    settled.conditions = sim::ConditionValues(*plan, settled.iterations);
    for (const Symbol& symbol : plan->symbols) {
      settled.symbols.symbols.push_back(least_value(symbol));
    }
    sim::Stage stage(*plan);
    if (!stage.lay_out(settled.symbols).empty() || !stage.make_commands(settled).empty()) continue;
    const sim::Program& program = stage.setting().program;
    const sim::Reach reach(stage.setting());
    ++plans;
    for (const PoolId pool : ids(plan->pools)) {
      for (std::int64_t begin = 0; begin < 40; begin += 3) {
        const sim::Window window{pool, {begin, begin + 1 + begin % 5}};
        const Result<sim::ByteMap> all = map_bytes(stage.setting(), window, 1'000'000);
        const Result<sim::ByteMap> few = stage.bytes_in(window);
        ASSERT_TRUE(all.ok() && few.ok());
        EXPECT_EQ(told(program, few.value()), told(program, all.value())) << "seed " << seed;
        left_out += program.commands.size() - reach.commands_in(window).size();
      }
    }
  }
  EXPECT_GT(plans, 200);
  EXPECT_GT(left_out, 5000U);
}

}  // namespace
}  // namespace memverify
