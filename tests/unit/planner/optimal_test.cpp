#include "planner/optimal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "planner/problem_parts.h"
#include "tests/support/placement_fault.h"
#include "tests/support/random_problem.h"

namespace memverify {
namespace {

using testing::placement_fault;
using testing::ProblemKind;
using testing::RandomProblem;

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
  std::size_t proven = 0;
  std::size_t problems = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    RandomProblem random(seed);
    for (const ProblemKind kind : testing::kProblemKinds) {
      const Problem problem = random.make(kind, random.pick_count(1, 6));
      const Placement found = optimal_placement(problem, {.max_seconds = 1e6, .max_nodes = 100000});
      ASSERT_EQ(placement_fault(problem, found), "") << seed;
      const std::int64_t lowest = lowest_peak(with_clashes(problem), found.peak + 1);
      ++problems;
      // A ring of parts whose alignments never agree is left unproven.
      ASSERT_TRUE(found.is_optimal || kind == ProblemKind::kPartial) << seed;
      ASSERT_EQ(found.peak, lowest) << seed << " kind " << static_cast<int>(kind);
      if (found.is_optimal) ++proven;
    }
  }
  EXPECT_GE(proven * 1000, problems * 999);
}

/// 32 ways to search, one answer.
TEST(Optimal, SwitchesChangeNoAnswerAndSaveNodes) {
  std::vector<std::uint64_t> nodes(32, 0);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomProblem random(seed + 5000);
    for (const ProblemKind kind :
         {ProblemKind::kIntervals, ProblemKind::kListedIntervals, ProblemKind::kGraph}) {
      const Problem problem = random.make(kind, random.pick_count(3, 7));
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
        ASSERT_EQ(placement_fault(problem, found), "") << seed << " switches " << bits;
        ASSERT_TRUE(found.is_optimal) << seed << " switches " << bits;
        nodes[bits] += found.nodes;
      }
    }
  }
  // Parts pay on larger problems: HardProblems.SwitchesEarnTheirKeep.
  for (unsigned i = 0; i < 4; ++i) EXPECT_LT(nodes[31], nodes[31 ^ (1U << i)]) << i;
}

TEST(Optimal, ATimeOutIsNoProof) {
  const Problem problem = RandomProblem(1).make(ProblemKind::kGraph, 30);
  const Placement placement = optimal_placement(problem, {.max_seconds = 0, .max_nodes = 1});
  EXPECT_FALSE(placement.is_optimal);
  EXPECT_EQ(placement_fault(problem, placement), "");
}

Problem clashing(const std::vector<std::int64_t>& bytes, const std::vector<Clash>& clashes) {
  Problem problem;
  for (const std::int64_t size : bytes) problem.buffers.push_back({.bytes = size});
  problem.clashes = clashes;
  return problem;
}

/// What one reads last is not what the other writes first: they need not lie apart.
TEST(Optimal, PartsThatClashStandOnPartsThatDoNot) {
  // [xx..] and [..yy]: x may be below y.
  const Problem halves = clashing({4, 4}, {{0, 1, {0, 2}, {2, 4}}});
  EXPECT_EQ(optimal_placement(halves, {}).peak, 4);
  EXPECT_TRUE(optimal_placement(halves, {}).is_optimal);
  // Both halves the other way round, too: they must part.
  const Problem crossed = clashing({4, 4}, {{0, 1, {0, 2}, {0, 2}}, {0, 1, {2, 4}, {2, 4}}});
  EXPECT_EQ(optimal_placement(crossed, {}).peak, 6);
  // A third one lies over the dead half of the first and under the dead half of the second.
  const Problem three =
      clashing({4, 4, 4}, {{0, 1, {0, 4}, {0, 4}}, {0, 2, {2, 4}, {0, 4}}, {1, 2, {0, 2}, {0, 4}}});
  EXPECT_EQ(optimal_placement(three, {}).peak, lowest_peak(three, 13));
}

/// The first random graph that takes a search.
Problem searched_graph() {
  for (std::uint64_t seed = 0;; ++seed) {
    const Problem problem = RandomProblem(seed).make(ProblemKind::kGraph, 9);
    if (optimal_placement(problem, {.max_seconds = 1e6}).nodes > 100) return problem;
  }
}

TEST(Optimal, WhatSharesNoClashIsSolvedAlone) {
  const Problem one = searched_graph();
  Problem twice = one;
  const auto count = static_cast<BufferIndex>(one.buffers.size());
  twice.buffers.insert(twice.buffers.end(), one.buffers.begin(), one.buffers.end());
  twice.live_ranges.insert(twice.live_ranges.end(), one.live_ranges.begin(), one.live_ranges.end());
  for (const Clash& clash : one.clashes) {
    twice.clashes.push_back(
        {clash.first + count, clash.second + count, clash.of_first, clash.of_second});
  }
  std::size_t buffers = 0;
  for (const ProblemPart& part : parts_of(twice)) buffers += part.buffers.size();
  EXPECT_EQ(buffers, twice.buffers.size());
  EXPECT_EQ(parts_of(twice).size(), 2 * parts_of(one).size());
  const Placement alone = optimal_placement(one, {.max_seconds = 1e6});
  const Placement both = optimal_placement(twice, {.max_seconds = 1e6});
  EXPECT_EQ(both.peak, alone.peak);
  EXPECT_TRUE(both.is_optimal);
  EXPECT_LT(both.nodes, 3 * alone.nodes) << "a sum of searches, not a product";
}

}  // namespace
}  // namespace memverify
