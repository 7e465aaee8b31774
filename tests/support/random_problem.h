// tests/support/random_problem.h -- small packing problems of every kind.
#pragma once

#include <cstdint>
#include <random>

#include "planner/neighbors.h"
#include "planner/problem.h"

namespace memverify::testing {

enum class ProblemKind {
  kIntervals,        ///< Live ranges decide.
  kListedIntervals,  ///< The same, with the clashes written down.
  kGraph,            ///< Any clashes, of whole buffers.
  kPartial,          ///< Any clashes, of parts, some pairs in two ways.
};
inline constexpr ProblemKind kProblemKinds[] = {ProblemKind::kIntervals,
                                                ProblemKind::kListedIntervals, ProblemKind::kGraph,
                                                ProblemKind::kPartial};

/// Same seed, same problems.
class RandomProblem {
 public:
  explicit RandomProblem(std::uint64_t seed) : random_(seed) {}

  /// Buffers of 0 to 9 bytes, some aligned to 4, sometimes one of them fixed.
  Problem make(ProblemKind kind, std::size_t count) {
    Problem problem;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t begin = pick(0, 9);
      problem.live_ranges.push_back({begin, begin + pick(0, 5)});
      problem.buffers.push_back({.bytes = pick(0, 9), .alignment = pick(0, 3) == 0 ? 4 : 1});
    }
    problem.live_ranges_decide = kind == ProblemKind::kIntervals;
    if (kind == ProblemKind::kListedIntervals) {
      problem.live_ranges_decide = true;
      problem = with_clashes(problem);
    }
    if (kind == ProblemKind::kGraph || kind == ProblemKind::kPartial) add_clashes(problem, kind);
    fix_one(problem);
    return problem;
  }

  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  std::size_t pick_count(std::int64_t least, std::int64_t most) {
    return static_cast<std::size_t>(pick(least, most));
  }

 private:
  ByteRange part_of(std::int64_t bytes, ProblemKind kind) {
    if (kind == ProblemKind::kGraph || pick(0, 1) == 0) return {0, bytes};
    const std::int64_t begin = pick(0, bytes - 1);
    return {begin, pick(begin + 1, bytes)};
  }

  void add_clashes(Problem& problem, ProblemKind kind) {
    for (BufferIndex a = 0; a < problem.buffers.size(); ++a) {
      for (BufferIndex b = a + 1; b < problem.buffers.size(); ++b) {
        const std::int64_t x = problem.buffers[a].bytes;
        const std::int64_t y = problem.buffers[b].bytes;
        if (x == 0 || y == 0 || pick(0, 1) == 0) continue;
        const std::int64_t times = kind == ProblemKind::kPartial ? pick(1, 2) : 1;
        for (std::int64_t i = 0; i < times; ++i) {
          problem.clashes.push_back({a, b, part_of(x, kind), part_of(y, kind)});
        }
      }
    }
  }

  /// Sometimes; one alone clashes with no other fixed one.
  void fix_one(Problem& problem) {
    if (problem.buffers.empty() || pick(0, 2) != 0) return;
    Buffer& buffer =
        problem.buffers[pick_count(0, static_cast<std::int64_t>(problem.buffers.size()) - 1)];
    buffer.offset = pick(0, 3) * buffer.alignment;
  }

  std::mt19937_64 random_;
};

}  // namespace memverify::testing
