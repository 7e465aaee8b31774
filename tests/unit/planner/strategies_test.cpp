#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "planner/neighbors.h"
#include "planner/optimal.h"
#include "planner/strategy.h"

namespace memverify {
namespace {

enum class Kind { kIntervals, kListedIntervals, kGraph, kPartial };
constexpr Kind kKinds[] = {Kind::kIntervals, Kind::kListedIntervals, Kind::kGraph, Kind::kPartial};

class RandomProblem {
 public:
  explicit RandomProblem(std::uint64_t seed) : random_(seed) {}

  Problem make(Kind kind, std::size_t count) {
    Problem problem;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t begin = pick(0, 9);
      problem.live_ranges.push_back({begin, begin + pick(0, 5)});
      problem.buffers.push_back({.bytes = pick(0, 9), .alignment = pick(0, 3) == 0 ? 4 : 1});
    }
    problem.live_ranges_decide = kind == Kind::kIntervals;
    if (kind == Kind::kListedIntervals) {
      problem.live_ranges_decide = true;
      problem = with_clashes(problem);
    }
    if (kind == Kind::kGraph || kind == Kind::kPartial) add_clashes(problem, kind);
    fix_one(problem);
    return problem;
  }

  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

 private:
  ByteRange part_of(std::int64_t bytes, Kind kind) {
    if (kind == Kind::kGraph || pick(0, 1) == 0) return {0, bytes};
    const std::int64_t begin = pick(0, bytes - 1);
    return {begin, pick(begin + 1, bytes)};
  }

  void add_clashes(Problem& problem, Kind kind) {
    for (BufferIndex a = 0; a < problem.buffers.size(); ++a) {
      for (BufferIndex b = a + 1; b < problem.buffers.size(); ++b) {
        const std::int64_t x = problem.buffers[a].bytes;
        const std::int64_t y = problem.buffers[b].bytes;
        if (x == 0 || y == 0 || pick(0, 1) == 0) continue;
        const std::int64_t times = kind == Kind::kPartial ? pick(1, 2) : 1;
        for (std::int64_t i = 0; i < times; ++i) {
          problem.clashes.push_back({a, b, part_of(x, kind), part_of(y, kind)});
        }
      }
    }
  }

  /// Sometimes; one alone clashes with no other fixed one.
  void fix_one(Problem& problem) {
    if (problem.buffers.empty() || pick(0, 2) != 0) return;
    Buffer& buffer = problem.buffers[static_cast<std::size_t>(
        pick(0, static_cast<std::int64_t>(problem.buffers.size()) - 1))];
    buffer.offset = pick(0, 3) * buffer.alignment;
  }

  std::mt19937_64 random_;
};

/// Searches stop by nodes, never by time.
constexpr StrategyOptions kByNodes = {.max_seconds = 1e6, .max_nodes = 200};

TEST(Strategies, ArePlacementsWithoutFaultThatCanBeRepeated) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomProblem random(seed);
    for (const Kind kind : kKinds) {
      const Problem problem = random.make(kind, static_cast<std::size_t>(random.pick(0, 25)));
      for (const Strategy& strategy : strategies()) {
        const Placement placement = strategy.place(problem, kByNodes);
        ASSERT_EQ(fault_of(problem, placement), "") << strategy.name << ", seed " << seed;
        ASSERT_EQ(strategy.place(problem, kByNodes).offsets, placement.offsets)
            << strategy.name << ", seed " << seed;
      }
    }
  }
}

/// The lowest peak of all placements, by trying all offsets below `most`.
std::int64_t lowest_peak(const Problem& problem, std::int64_t most) {
  const std::size_t count = problem.buffers.size();
  std::vector<std::int64_t> offsets(count, 0);
  std::int64_t best = most;
  const auto meets = [&](BufferIndex placed) {
    for (const Clash& clash : problem.clashes) {
      if (clash.second > placed || (clash.second != placed && clash.first != placed)) continue;
      if (offsets[clash.first] + clash.of_first.begin <
              offsets[clash.second] + clash.of_second.end &&
          offsets[clash.second] + clash.of_second.begin <
              offsets[clash.first] + clash.of_first.end) {
        return true;
      }
    }
    return false;
  };
  const auto go = [&](const auto& self, BufferIndex b, std::int64_t peak) -> void {
    if (peak >= best) return;
    if (b == count) {
      best = peak;
      return;
    }
    const Buffer& buffer = problem.buffers[b];
    const std::int64_t first = buffer.offset.value_or(0);
    const std::int64_t last = buffer.offset.value_or(best);
    for (offsets[b] = first; offsets[b] <= last; offsets[b] += buffer.alignment) {
      const std::int64_t top = buffer.bytes == 0 ? 0 : offsets[b] + buffer.bytes;
      if (top >= best) break;
      if (!meets(b)) self(self, b + 1, std::max(peak, top));
      if (buffer.bytes == 0) break;
    }
  };
  go(go, 0, 0);
  return best;
}

TEST(Optimal, IsTheLowestOfAllOffsets) {
  int proven = 0;
  int problems = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    RandomProblem random(seed);
    for (const Kind kind : kKinds) {
      const Problem problem = random.make(kind, static_cast<std::size_t>(random.pick(1, 5)));
      const Placement found = optimal_placement(problem, {.max_seconds = 1e6, .max_nodes = 100000});
      ASSERT_EQ(fault_of(problem, found), "") << seed;
      const std::int64_t lowest = lowest_peak(with_clashes(problem), found.peak + 1);
      ++problems;
      proven += found.is_optimal ? 1 : 0;
      ASSERT_TRUE(found.is_optimal || kind == Kind::kPartial) << seed;
      if (found.is_optimal) {
        ASSERT_EQ(found.peak, lowest) << seed << " kind " << static_cast<int>(kind);
      } else {
        ASSERT_GE(found.peak, lowest) << seed;
      }
    }
  }
  EXPECT_GE(proven * 4, problems * 3);
}

TEST(Optimal, SwitchesChangeNoAnswerAndSaveNodes) {
  std::vector<std::uint64_t> nodes(32, 0);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomProblem random(seed + 5000);
    for (const Kind kind : {Kind::kIntervals, Kind::kListedIntervals, Kind::kGraph}) {
      const Problem problem = random.make(kind, static_cast<std::size_t>(random.pick(3, 7)));
      const StrategyOptions options = {.max_seconds = 1e6};
      const Placement all = optimal_placement(problem, options);
      for (unsigned bits = 0; bits < 32; ++bits) {
        const OffsetSearchSwitches switches = {.ascending = (bits & 1) != 0,
                                               .left = (bits & 2) != 0,
                                               .dominance = (bits & 4) != 0,
                                               .hats = (bits & 8) != 0,
                                               .parts = (bits & 16) != 0};
        const Placement found = optimal_placement(problem, options, switches);
        ASSERT_EQ(found.peak, all.peak) << seed << " switches " << bits;
        ASSERT_EQ(fault_of(problem, found), "") << seed << " switches " << bits;
        ASSERT_TRUE(found.is_optimal) << seed << " switches " << bits;
        nodes[bits] += found.nodes;
      }
    }
  }
  // Parts pay on larger problems: SwitchesEarnTheirKeep.
  for (unsigned i = 0; i < 4; ++i) EXPECT_LT(nodes[31], nodes[31 ^ (1U << i)]) << i;
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

TEST(Optimal, ATimeOutIsNoProof) {
  const Problem problem = intervals({{{0, 2}, 3}, {{1, 3}, 4}, {{2, 4}, 3}, {{3, 5}, 2}});
  const Placement placement = optimal_placement(problem, {.max_seconds = 0, .max_nodes = 1});
  EXPECT_FALSE(placement.is_optimal && placement.peak > 7);
  EXPECT_EQ(fault_of(problem, placement), "");
}

}  // namespace
}  // namespace memverify
