#include "sim/timed.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/plans.h"

namespace memverify {
namespace {

using sim_test::built;
using sim_test::start_plan;

/// `w` writes X at once, `u` overwrites it on another queue that is 3 ticks late by default.
Plan racy(std::int64_t least, std::int64_t most) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  b.add_queue({.name = "q"});
  b.add_queue({.name = "dma", .delay_min = least, .delay_max = most});
  b.add_storage({.name = "X", .pool = "hbm", .slots = {std::int64_t{0}}, .bytes = 64});
  b.add_tensor({.name = "X", .storage = "X", .bytes = 64});
  b.add_op({.name = "w",
            .queue = "q",
            .writes = {{.tensor = "X"}},
            .duration = Duration{.min = 2, .max = 2}});
  b.add_op({.name = "u", .queue = "dma", .writes = {{.tensor = "X"}}});
  return built(std::move(b));
}

TEST(Timed, RunsEveryCombinationAndCountsThoseThatFail) {
  const TimedResult result = simulate_timed(racy(0, 4), {});
  EXPECT_EQ(result.combinations, "5");
  EXPECT_EQ(result.runs, 5U);
  EXPECT_EQ(result.failing, 2U) << "u starts at tick 0 or 1, while w runs to tick 2";
  EXPECT_EQ(result.least_makespan, 2);
  EXPECT_EQ(result.greatest_makespan, 5);
}

TEST(Timed, AnOpThatEndsAtATickDoesNotRaceWithOneThatStartsThen) {
  EXPECT_EQ(simulate_timed(racy(2, 2), {}).failing, 0U);
  EXPECT_EQ(simulate_timed(racy(1, 1), {}).failing, 1U);
}

TEST(Timed, NamesTheSmallestFailingCombination) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  b.add_queue({.name = "dma", .delay_max = 3});
  b.add_queue({.name = "compute", .delay_min = 2, .delay_max = 3});
  b.add_storage({.name = "X", .pool = "hbm", .slots = {std::int64_t{0}}, .bytes = 64});
  b.add_tensor({.name = "X", .storage = "X", .bytes = 64});
  b.add_op({.name = "load", .queue = "dma", .writes = {{.tensor = "X"}}});
  b.add_op({.name = "use", .queue = "compute", .reads = {{.tensor = "X"}}});
  const Plan plan = built(std::move(b));
  const TimedOptions options;
  const TimedResult result = simulate_timed(plan, options);
  ASSERT_TRUE(result.smallest.has_value());
  EXPECT_EQ(lateness_words(plan, options, *result.smallest), "`dma` delayed by 2 ticks");
  ASSERT_EQ(result.smallest->timeline.size(), 4U);
  EXPECT_EQ(result.smallest->timeline[0].tick, 2);
  EXPECT_EQ(result.smallest->makespan, 3);
}

TEST(Timed, DelaysOfTheCommandLineReplaceThoseOfThePlan) {
  TimedOptions options;
  options.delays = {0, 1};
  const TimedResult result = simulate_timed(racy(7, 7), options);
  EXPECT_EQ(result.combinations, "4");
  EXPECT_EQ(result.failing, 3U) << "u has ended when a late w starts";
}

TEST(Timed, DrawsTheSameRunsForTheSameSeedWhenThereAreTooMany) {
  TimedOptions options;
  options.max_runs = 20;
  options.seed = 7;
  const TimedResult first = simulate_timed(racy(0, 100), options);
  const TimedResult second = simulate_timed(racy(0, 100), options);
  EXPECT_FALSE(first.all);
  EXPECT_EQ(first.runs, 20U);
  EXPECT_EQ(first.failing, second.failing);
}

TEST(Timed, FindsDeadlocksAndWrongVersionsToo) {
  PlanBuilder b = start_plan({"q"}, {{"A", 0}, {"B", 0}, {"O", 64}});
  b.add_op({.name = "a", .queue = "q", .writes = {{.tensor = "A"}}});
  b.add_op({.name = "b", .queue = "q", .writes = {{.tensor = "B"}}});
  b.add_op({.name = "u", .queue = "q", .reads = {{.tensor = "A"}}, .writes = {{.tensor = "O"}}});
  const TimedResult wrong = simulate_timed(built(std::move(b)), {});
  ASSERT_TRUE(wrong.smallest.has_value());
  EXPECT_NE(wrong.smallest->fault.find("wrong version"), std::string::npos);

  PlanBuilder d = start_plan({"q"}, {{"A", 0}});
  d.add_semaphore({.name = "s"});
  d.add_op({.name = "a",
            .queue = "q",
            .writes = {{.tensor = "A"}},
            .waits = {{.kind = WaitKind::kSemaphore, .target = "s"}}});
  const TimedResult stuck = simulate_timed(built(std::move(d)), {});
  ASSERT_TRUE(stuck.smallest.has_value());
  EXPECT_NE(stuck.smallest->fault.find("deadlock"), std::string::npos);
}

}  // namespace
}  // namespace memverify
