// planner/graph_bound.h -- the lower bound of each pool of a planned graph, with its evidence.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/apart.h"
#include "planner/graph_clashes.h"
#include "planner/problem.h"

namespace memverify {

/// Bytes of a buffer, or of a fixed place, that belong to the evidence.
struct BoundMember {
  BufferIndex buffer = 0;
  ByteRange bytes;
};

struct PoolBound {
  std::int64_t bytes = 0;  ///< Every placement with this choice of pools needs at least so much.
  std::vector<BoundMember> members;   ///< No two of them may share bytes; `bytes` in all.
  std::int64_t largest_live_set = 0;  ///< Alive at once in some state of some run.
  std::int64_t live_set_at_most = 0;  ///< In no run are more alive; equal: that is the largest.
};

/// By pool. `pool_of`: by buffer. The greatest over all cases; each antichain is checked. The plan
/// must be safe; all bounds are 0 when not every case could be looked at.
std::vector<PoolBound> pool_bounds(const ApartPlan& apart, const GraphClashes& clashes,
                                   const std::vector<PoolId>& pool_of);

}  // namespace memverify
