// planner/problem_parts.h -- a problem in parts that have nothing to do with each other.
#pragma once

#include <vector>

#include "planner/problem.h"

namespace memverify {

struct ProblemPart {
  Problem problem;                   ///< With capacity, without a lower bound.
  std::vector<BufferIndex> buffers;  ///< Which they are in the whole, ascending.
};

/// The connected components of the clashes, the one with most bytes first; a buffer without any is
/// a part of its own. Any placements of the parts together are one of the whole. The clashes must
/// be written down. Cost O(n log n + clashes).
std::vector<ProblemPart> parts_of(const Problem& problem);

}  // namespace memverify
