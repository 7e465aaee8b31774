// planner/problem_parts.h -- parts of a problem as problems of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/problem.h"

namespace memverify {

struct ProblemPart {
  Problem problem;                   ///< Without capacity and lower bound.
  std::vector<BufferIndex> buffers;  ///< Which they are in the whole, ascending.
};

inline constexpr std::uint32_t kInNoPart = 0xFFFFFFFFU;

/// The parts `[0, count)` with the clashes within them. `part_of` by buffer, or `kInNoPart`. Cost
/// O(n + clashes).
std::vector<ProblemPart> cut_problem(const Problem& problem,
                                     const std::vector<std::uint32_t>& part_of, std::size_t count);

/// The connected components of the clashes, the one with most bytes first; a buffer without any is
/// a part of its own. Any placements of the parts together are one of the whole. The clashes must
/// be written down. Cost O(n log n + clashes).
std::vector<ProblemPart> parts_of(const Problem& problem);

}  // namespace memverify
