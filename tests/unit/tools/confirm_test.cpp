#include "tools/confirm.h"

#include <gtest/gtest.h>

#include "plan/builder.h"

namespace memverify {
namespace {

Plan one_op_plan() {
  PlanBuilder builder;
  builder.add_queue({.name = "q"});
  builder.add_op({.name = "a", .queue = "q"});
  return std::move(builder).build().value();
}

Finding race_of_length(std::size_t steps) {
  Finding finding{.rule = Rule::kWar, .ops = {OpId{0}, OpId{0}}};
  finding.witness.resize(steps, Step{.op = OpId{0}});
  return finding;
}

TEST(Confirm, ReplaysWhatHasARunAndNothingElse) {
  std::size_t calls = 0;
  const std::vector<Finding> findings = {race_of_length(2), Finding{.rule = Rule::kMisaligned},
                                         race_of_length(3)};
  const Confirmation result = confirm(
      one_op_plan(), findings,
      [&](const Finding&) {
        ++calls;
        return ReplayResult{.confirmed = true};
      },
      1000);
  EXPECT_EQ(calls, 2U);
  EXPECT_EQ(result.witnesses, 2U);
  EXPECT_EQ(result.replayed, 2U);
  EXPECT_TRUE(result.failures.empty());
}

TEST(Confirm, TellsWhichRunDoesNotReplayAndWhy) {
  const std::vector<Finding> findings = {race_of_length(2)};
  const Confirmation result = confirm(
      one_op_plan(), findings,
      [](const Finding&) {
        return ReplayResult{.confirmed = false, .reason = "step 1 is not allowed"};
      },
      1000);
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_EQ(result.failures[0],
            "the run of MV101 (`a` and `a`) does not replay: step 1 is not allowed");
}

TEST(Confirm, StopsAtTheBudgetButReplaysTheFirst) {
  const std::vector<Finding> findings = {race_of_length(50), race_of_length(50), race_of_length(2)};
  const auto yes = [](const Finding& finding) {
    return ReplayResult{.confirmed = true, .steps = finding.witness.size()};
  };
  const Confirmation tight = confirm(one_op_plan(), findings, yes, 10);
  EXPECT_EQ(tight.witnesses, 3U);
  EXPECT_EQ(tight.replayed, 1U);
  // A run that does not fit leaves the budget to shorter ones after it.
  EXPECT_EQ(confirm(one_op_plan(), findings, yes, 60).replayed, 2U);
  EXPECT_EQ(confirm(one_op_plan(), findings, yes, 102).replayed, 3U);
}

TEST(Confirm, CountsWhatAReplayTookBesideItsRun) {
  const std::vector<Finding> findings = {race_of_length(2), race_of_length(2), race_of_length(2)};
  const auto costly = [](const Finding&) { return ReplayResult{.confirmed = true, .steps = 50}; };
  EXPECT_EQ(confirm(one_op_plan(), findings, costly, 40).replayed, 1U);
  EXPECT_EQ(confirm(one_op_plan(), findings, costly, 60).replayed, 2U);
}

}  // namespace
}  // namespace memverify
