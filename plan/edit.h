// plan/edit.h -- a plan with one thing changed, all else as it was.
//
// What PlanBuilder guarantees of a plan holds of the result as well, as long as what each function
// asks for holds. Cost: a copy of the plan.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace memverify {

/// One more entry of `after` in `waiter`: it starts after `on`, of `distance` iterations before,
/// has completed. Neither is a view; a command does not wait for itself at distance 0.
struct AddedWait {
  OpId waiter = kNone<OpId>;
  OpId on = kNone<OpId>;
  std::uint32_t distance = 0;
  bool operator==(const AddedWait&) const = default;
};
Plan with_waits(const Plan& plan, std::span<const AddedWait> waits);

/// A storage at other addresses of its pool.
struct MovedStorage {
  StorageId storage = kNone<StorageId>;
  std::vector<std::int64_t> slots;  ///< Offset of each slot; as many as it has.
  bool operator==(const MovedStorage&) const = default;
};
Plan with_moves(const Plan& plan, std::span<const MovedStorage> moves);

/// The commands in another program order: `order` holds each op of the plan once.
Plan reordered(const Plan& plan, std::span<const OpId> order);
/// `op` right before the op that is now at `place`, or last if that is the number of ops.
Plan with_op_at(const Plan& plan, OpId op, std::uint32_t place);

/// A barrier over all queues right before the op that is now at `place`.
Plan with_barrier(const Plan& plan, std::uint32_t place);

/// A tensor copied, for one reader: right after `after` (kNone: first of all) an op on `queue`
/// copies `source` to a new contiguous root in a new storage at `offset` of `source`'s pool, and
/// `reader` reads that. The names are those of `source` and of what is new, made free.
struct AddedCopy {
  TensorId source = kNone<TensorId>;
  OpId reader = kNone<OpId>;
  OpId after = kNone<OpId>;
  QueueId queue = kNone<QueueId>;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;  ///< Of the storage: at least what the tensor needs.
};
/// The copy is the op after `after`, its tensor and its storage are the last ones. Nothing but
/// queues orders it. `reader` reads the whole of `source`, and names it in no in-place pair.
Plan with_copy(const Plan& plan, const AddedCopy& copy);

}  // namespace memverify
