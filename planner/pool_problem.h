// planner/pool_problem.h -- what a strategy is asked about one pool of a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/apart.h"
#include "planner/graph_clashes.h"
#include "planner/in_place.h"
#include "planner/problem.h"

namespace memverify {

struct PoolProblem {
  Problem problem;
  /// By group, then by fixed place: its buffer in the problem, or `kElsewhere`.
  std::vector<BufferIndex> place_in;
  static constexpr BufferIndex kElsewhere = 0xFFFFFFFFU;
};

/// The buffers with an alignment are in `pool` and to be placed; those of 0 are not. Capacity and
/// bound are left to the caller.
PoolProblem pool_problem(const ApartPlan& apart, const GraphClashes& clashes, PoolId pool,
                         const Groups& groups, const std::vector<std::int64_t>& alignments);

}  // namespace memverify
