#include <gtest/gtest.h>

#include "planner/gap_finder.h"
#include "planner/orders.h"
#include "planner/strategy.h"
#include "tests/support/placement_fault.h"
#include "tests/support/random_problem.h"

namespace memverify {
namespace {

using testing::placement_fault;
using testing::ProblemKind;
using testing::RandomProblem;

/// Searches stop by nodes, never by time.
constexpr StrategyOptions kByNodes = {.max_seconds = 1e6, .max_nodes = 200};

TEST(Strategies, ArePlacementsWithoutFaultThatCanBeRepeated) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomProblem random(seed);
    for (const ProblemKind kind : testing::kProblemKinds) {
      const Problem problem = random.make(kind, random.pick_count(0, 25));
      for (const Strategy& strategy : strategies()) {
        const Placement placement = strategy.place(problem, kByNodes);
        ASSERT_EQ(placement_fault(problem, placement), "") << strategy.name << ", seed " << seed;
        ASSERT_EQ(strategy.place(problem, kByNodes).offsets, placement.offsets)
            << strategy.name << ", seed " << seed;
      }
    }
  }
}

Problem intervals(const std::vector<std::pair<LiveRange, std::int64_t>>& rows) {
  Problem problem;
  problem.live_ranges_decide = true;
  for (const auto& [live, bytes] : rows) {
    problem.buffers.push_back({.bytes = bytes});
    problem.live_ranges.push_back(live);
  }
  return problem;
}

std::int64_t peak_by(std::string_view strategy, const Problem& problem) {
  return find_strategy(strategy)->place(problem, kByNodes).peak;
}

TEST(Strategies, TrainingStepNeedsTwoBlocksInsteadOfFive) {
  const Problem problem =
      intervals({{{0, 3}, 4}, {{2, 5}, 4}, {{4, 7}, 4}, {{6, 9}, 4}, {{1, 2}, 4}});
  EXPECT_EQ(peak_by("none", problem), 20);
  for (const char* name : {"first-fit", "best-fit", "coloring", "bitset", "optimal", "auto"}) {
    EXPECT_EQ(peak_by(name, problem), 8) << name;
  }
}

TEST(Strategies, AChainNeedsTwoBlocks) {
  const Problem problem =
      intervals({{{0, 2}, 1}, {{1, 3}, 1}, {{2, 4}, 1}, {{3, 5}, 1}, {{4, 6}, 1}});
  for (const Strategy& strategy : strategies()) {
    if (strategy.name == "none" || strategy.name == "size-classes") continue;
    EXPECT_EQ(strategy.place(problem, kByNodes).peak, 2) << strategy.name;
  }
}

TEST(Strategies, SizeClassesSayWhatAnAllocatorDoes) {
  const Problem problem = intervals({{{0, 2}, 10}, {{1, 3}, 10}, {{2, 4}, 10}});
  const Placement placement = find_strategy("size-classes")->place(problem, kByNodes);
  ASSERT_TRUE(placement.allocator);
  EXPECT_EQ(placement.allocator->pool_hits, 1);
  EXPECT_EQ(placement.allocator->system_allocations, 2);
  EXPECT_DOUBLE_EQ(placement.allocator->amortised_cost(), 2.0 / 3);
}

/// By death the small one, dead between the two large ones, ends up above the first and too low for
/// the second.
TEST(Strategies, GreedyByDeathFailsWhereBestFitDoesNot) {
  const Problem problem = intervals({{{1, 2}, 10}, {{0, 4}, 2}, {{3, 5}, 11}});
  EXPECT_EQ(peak_by("greedy-death", problem), 23);
  EXPECT_EQ(peak_by("best-fit", problem), 13);
  EXPECT_EQ(peak_by("optimal", problem), 13);
}

/// Bit sets of steps say the same as live ranges.
TEST(Strategies, BitsetIsLargestFirstAtTheLowestOffset) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomProblem random(seed);
    for (const ProblemKind kind : {ProblemKind::kIntervals, ProblemKind::kListedIntervals}) {
      const Problem problem = random.make(kind, random.pick_count(1, 80));
      const Placement by_list =
          place_in_order(problem, Neighbors(problem), order_by_size(problem), Fit::kLowest);
      ASSERT_EQ(find_strategy("bitset")->place(problem, kByNodes).offsets, by_list.offsets) << seed;
    }
  }
}

/// Both say the same of right placements and of wrong ones.
TEST(Strategies, TwoValidatorsAgree) {
  std::size_t faults = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    RandomProblem random(seed);
    for (const ProblemKind kind : testing::kProblemKinds) {
      const Problem problem = random.make(kind, random.pick_count(1, 8));
      Placement placement = find_strategy("by-size")->place(problem, kByNodes);
      Placement moved = placement;
      std::int64_t& offset =
          moved
              .offsets[random.pick_count(0, static_cast<std::int64_t>(problem.buffers.size()) - 1)];
      offset += random.pick(-3, 3);
      ASSERT_EQ(fault_of(problem, moved).empty(), placement_fault(problem, moved).empty())
          << seed << ": " << fault_of(problem, moved) << "; " << placement_fault(problem, moved);
      if (!fault_of(problem, moved).empty()) ++faults;
    }
  }
  EXPECT_GT(faults, 2000U);
  EXPECT_LT(faults, 7000U);
}

/// Where a capacity is only where to aim, it makes no peak higher; where it is enough, `auto` is
/// still not above the lists that it starts from.
TEST(Strategies, ACapacityRaisesNoPeak) {
  const auto has_room = [](Problem problem, bool is_enough) {
    problem.capacity = 1000;
    problem.capacity_is_enough = is_enough;
    return problem;
  };
  std::size_t ended_early = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomProblem random(seed);
    for (const ProblemKind kind : testing::kProblemKinds) {
      const Problem problem = random.make(kind, random.pick_count(1, 25));
      for (const char* name : {"hill-climb", "optimal", "auto"}) {
        const std::int64_t without = peak_by(name, problem);
        ASSERT_EQ(peak_by(name, has_room(problem, false)), without) << name << ", seed " << seed;
        if (peak_by(name, has_room(problem, true)) > without) ++ended_early;
      }
      const std::int64_t found = peak_by("auto", has_room(problem, true));
      for (const char* list : {"greedy-death", "first-fit", "best-fit", "by-size", "by-conflicts",
                               "bitset", "optimal"}) {
        ASSERT_LE(found, peak_by(list, has_room(problem, true))) << list << ", seed " << seed;
      }
    }
  }
  EXPECT_GT(ended_early, 100U);
}

/// No strategy needs less than the best of all placements.
TEST(Strategies, NoneIsBelowWhatIsOptimal) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomProblem random(seed);
    for (const ProblemKind kind : testing::kProblemKinds) {
      const Problem problem = random.make(kind, random.pick_count(1, 7));
      const Placement best = find_strategy("optimal")->place(problem, {.max_seconds = 1e6});
      ASSERT_TRUE(best.is_optimal || kind == ProblemKind::kPartial);
      for (const Strategy& strategy : strategies()) {
        const Placement placement = strategy.place(problem, kByNodes);
        ASSERT_GE(placement.peak, best.peak) << strategy.name << ", seed " << seed;
        if (placement.is_optimal) {
          ASSERT_EQ(placement.peak, best.peak) << strategy.name << ", seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace memverify
