// planner/plan_graph.h -- from a graph to a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/apart.h"
#include "planner/graph_bound.h"
#include "planner/graph_clashes.h"
#include "planner/strategy.h"

namespace memverify {

struct PlanGraphOptions {
  PlaceFunction place = nullptr;
  ClashesFunction wrong_clashes = nullptr;  ///< Of an unsafe strategy: decides in place of clashes.
  StrategyOptions strategy;                 ///< Its seconds are those of the whole plan.
  bool bounds = true;  ///< Work out lower bounds: most of the time that a small graph takes.
  std::optional<std::int64_t> slots;     ///< For tensors that ask for more than one.
  std::vector<PoolId> pools;             ///< For tensors that name none; empty: all, in order.
  std::optional<std::int64_t> capacity;  ///< Of every pool, if less than its own.
  /// By pool: no more than that, whatever its capacity; may be shorter than the pools.
  std::vector<std::optional<std::int64_t>> available;
};

/// What became of one pool.
struct PoolOutcome {
  PoolId pool = kNone<PoolId>;
  std::optional<std::int64_t> capacity;
  std::int64_t peak = 0;                     ///< Highest end of a storage.
  std::int64_t total = 0;                    ///< Sum of the sizes of what was placed here,
  std::int64_t fixed = 0;                    ///< … and of the storages that were there before.
  PoolBound bound;                           ///< No placement has a lower peak; 0 bytes: not known.
  bool is_optimal = false;                   ///< Proven, for this choice of pools.
  std::optional<AllocatorCounts> allocator;  ///< Of `size-classes`.
  std::vector<BufferIndex> at_peak;  ///< What ends highest and what clashes with it, from the top.
  bool fits() const { return !capacity || peak <= *capacity; }
};

struct PlannedGraph {
  Plan plan;                         ///< With the tensors placed and `peak_bytes` claimed.
  std::vector<PoolOutcome> pools;    ///< With something placed, or fuller than asked for.
  std::vector<GraphBuffer> buffers;  ///< `address` is in `pool_of`.
  std::vector<PoolId> pool_of;       ///< By buffer.
  std::string gap;                   ///< Not empty: why no two tensors share bytes.
  bool fits() const {
    for (const PoolOutcome& outcome : pools) {
      if (!outcome.fits()) return false;
    }
    return true;
  }
};

/// Places every unplaced tensor of `graph`. `apart` is the graph with the tensors apart, and safe.
/// A plan that does not fit its pools is returned as it is. The graph has a pool.
/// `options.strategy.max_seconds` is for all placements together.
PlannedGraph plan_graph(const Plan& graph, const ApartPlan& apart, const PlanGraphOptions& options);

}  // namespace memverify
