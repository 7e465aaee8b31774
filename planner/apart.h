// planner/apart.h -- a graph with every unplaced tensor in bytes of its own.
//
// A plan that every engine takes: whatever is wrong with it is wrong under every placement. The
// tensors lie in a pool made for them, the last of the plan, without capacity or alignment.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

/// A slot of an unplaced root: what gets one address.
struct GraphBuffer {
  TensorId root = kNone<TensorId>;
  std::uint32_t slot = 0;
  std::int64_t bytes = 0;  ///< Under the symbol values that need most.
  std::int64_t element_0 =
      0;  ///< Offset of the root's element 0, right for its and its views' alignments.
  std::int64_t address = 0;  ///< In the plan's last pool.
};

struct ApartPlan {
  Plan plan;
  PoolId scratch = kNone<PoolId>;
  std::vector<GraphBuffer> buffers;  ///< By root, then slot; ascending addresses.
};

/// `slots`: how many slots the tensors get that ask for more than one. Errors: those of
/// `Layout::make`, and "graph.too_large" for too many slots, alignments without a common multiple
/// up to 2^60, or more than 2^61 bytes in all.
Result<ApartPlan> place_apart(const Plan& graph, std::optional<std::int64_t> slots = {});

}  // namespace memverify
