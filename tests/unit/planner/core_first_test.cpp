#include "planner/core_first.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "planner/neighbors.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

struct Interval {
  std::int64_t begin, end, bytes;
};

Problem intervals(std::initializer_list<Interval> rows, std::int64_t lower_bound) {
  Problem problem{.live_ranges_decide = true, .lower_bound = lower_bound};
  for (const Interval& row : rows) {
    problem.buffers.push_back({.bytes = row.bytes});
    problem.live_ranges.push_back({row.begin, row.end});
  }
  return problem;
}

/// The short ones are live with all of the five in the middle, the long ones start there.
Problem short_then_long() {
  return intervals(
      {{0, 14, 5}, {4, 9, 8}, {6, 10, 8}, {7, 12, 8}, {8, 14, 8}, {10, 40, 10}, {12, 40, 10}}, 37);
}

/// Two hundred buffers; forty of them in a fifth of the steps.
Problem crowded(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least));
  };
  Problem problem{.live_ranges_decide = true};
  std::vector<std::int64_t> loads(300, 0);
  for (int k = 0; k < 200; ++k) {
    const std::int64_t begin = k < 40 ? pick(140, 180) : pick(0, 280);
    const LiveRange live{begin, begin + pick(1, 20)};
    problem.live_ranges.push_back(live);
    problem.buffers.push_back({.bytes = pick(1, 40)});
    for (std::int64_t step = live.begin; step < live.end; ++step) {
      loads[static_cast<std::size_t>(step)] += problem.buffers.back().bytes;
    }
  }
  problem.lower_bound = std::ranges::max(loads);
  return problem;
}

TEST(CoreFirst, ReachesTheBoundWhereTheLargestFirstDoNot) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = crowded(seed);
    const std::optional<Placement> placement = place_core_first(problem, {.max_nodes = 5000});
    ASSERT_TRUE(placement);
    EXPECT_EQ(fault_of(problem, *placement), "");
    EXPECT_EQ(placement->is_optimal, placement->peak == problem.lower_bound);
    if (placement->is_optimal && place_by_size(problem, {}).peak > problem.lower_bound) ++better;
  }
  EXPECT_GE(better, 15);
}

TEST(CoreFirst, TakesListedClashesToo) {
  const Problem problem = crowded(1);
  const std::optional<Placement> listed =
      place_core_first(with_clashes(problem), {.max_nodes = 5000});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->peak, place_core_first(problem, {.max_nodes = 5000})->peak);
  EXPECT_EQ(fault_of(problem, *listed), "");
}

TEST(CoreFirst, BuildsAMountainWithoutASearch) {
  // All live in step 50; the longest at the bottom leave room on both sides for what is not.
  Problem problem{.live_ranges_decide = true};
  for (std::int64_t k = 1; k <= 40; ++k) {
    problem.buffers.push_back({.bytes = k});
    problem.live_ranges.push_back({50 - k, 50 + k});
    problem.lower_bound += k;
    problem.buffers.push_back({.bytes = k * (k + 1) / 2});  // Beside those that live longer.
    problem.live_ranges.push_back({50 - k - 1, 50 - k});
  }
  const std::optional<Placement> placement = place_core_first(problem, {});
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->peak, problem.lower_bound);
  EXPECT_EQ(placement->nodes, 0U);
  EXPECT_EQ(fault_of(problem, *placement), "");
}

TEST(CoreFirst, KeepsWhatIsFixed) {
  Problem problem = short_then_long();
  problem.buffers[6].offset = 0;
  problem.buffers[0].offset = 30;
  const std::optional<Placement> placement = place_core_first(problem, {});
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->offsets[6], 0);
  EXPECT_EQ(fault_of(problem, *placement), "");
}

TEST(CoreFirst, NeedsLiveRanges) {
  Problem problem = with_clashes(short_then_long());
  problem.live_ranges.clear();
  EXPECT_FALSE(place_core_first(problem, {}));
}

}  // namespace
}  // namespace memverify
