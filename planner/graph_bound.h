// planner/graph_bound.h -- the lower bound of each pool of a planned graph, with its evidence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/apart.h"
#include "planner/graph_clashes.h"
#include "planner/live_set.h"
#include "planner/lower_bound.h"
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
  bool of_one_run = false;            ///< They are alive at once in some run, which is why.
  std::int64_t largest_live_set = 0;  ///< Alive at once in some state of some run.
  std::int64_t live_set_at_most = 0;  ///< In no run are more alive; equal: that is the largest.
};

/// Finds the lower bound of each pool for one choice of pools, case by case.
class PoolBounder {
 public:
  /// `pool_of`: by buffer. The plan must be safe.
  PoolBounder(const ApartPlan& apart, std::vector<PoolId> pool_of);
  void look(const GraphCase& at);
  /// By pool: the greatest over the cases that were looked at, of an antichain (checked) or of what
  /// is alive at once, which is more around in-place pairs. All 0 when `clashes` has a gap.
  std::vector<PoolBound> bounds(const GraphClashes& clashes) &&;

 private:
  PoolId pool_of(BufferIndex b, std::span<const BufferMap::Fixed> fixed) const;
  SharingPairs sharing_pairs(const GraphCase& at) const;

  const ApartPlan& apart_;
  std::vector<PoolId> pool_of_;
  std::vector<TensorId> roots_;
  bool clobbers_ = false;      ///< Some op clobbers bytes of a pool.
  LiveSetWork work_ = 50'000;  ///< Two cuts of 25,000 instances, or the like.
  std::vector<PoolBound> result_;
};

/// The same for all cases, which are walked again.
std::vector<PoolBound> pool_bounds(const ApartPlan& apart, std::vector<PoolId> pool_of);

}  // namespace memverify
