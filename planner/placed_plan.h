// planner/placed_plan.h -- a graph with its tensors given storages.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace memverify {

/// Where an unplaced root goes: a storage of its own, of the tensor's name where that is free.
struct Place {
  TensorId root = kNone<TensorId>;
  PoolId pool = kNone<PoolId>;
  std::vector<std::int64_t> slots;  ///< Offset of each slot in the pool; at least one.
  std::int64_t bytes = 0;           ///< Of a slot.
  std::int64_t element_0 = 0;       ///< Offset of the root's element 0 in the slot.
};

/// `plan` with these roots placed; all else is as it was. Each root is named once and unplaced.
Plan with_places(const Plan& plan, std::span<const Place> places);

/// `plan` with one more pool, for nobody yet: no capacity, alignment 1, a name that is free.
Plan with_scratch_pool(const Plan& plan, PoolId& pool);

/// The roots that need a place, ascending.
std::vector<TensorId> unplaced_roots(const Plan& plan);

}  // namespace memverify
