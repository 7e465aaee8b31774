// sim/lifetime.h -- when use outside alloc…free shows ([S-33], [S-34]).
//
// Every access to a slot that is alloc'ed or freed belongs to the bracket of the last alloc before
// it in program order: that alloc must have completed before the access starts, and the first free
// after that alloc must not start before the access completes. Each such demand is one check at one
// start.
#pragma once

#include <span>
#include <vector>

#include "sim/bytes.h"
#include "sim/state.h"

namespace memverify::sim {

/// A fault (MV112) if `other` is in one of the phases [from, to] when `at` starts.
struct LifetimeCheck {
  CommandId at = kNone<CommandId>;
  CommandId other = kNone<CommandId>;  ///< `at` itself: it is a fault whenever `at` starts.
  Phase from = Phase::kWaiting;
  Phase to = Phase::kDone;
  CommandId blame = kNone<CommandId>;  ///< Reported along with `at`; kNone: `at` stands alone.
  TensorId tensor = kNone<TensorId>;   ///< What is accessed; kNone between allocs and frees.
  StorageId storage = kNone<StorageId>;
  std::int64_t instance = 0;  ///< Of the storage: which slot.
};

/// A tensor that is dead when everything has completed though someone reads it then.
struct DeadAtEnd {
  TensorId tensor = kNone<TensorId>;
  CommandId blame = kNone<CommandId>;  ///< The free; kNone if nothing ever allocs it.
  std::int64_t instance = 0;
};

struct Lifetimes {
  std::vector<LifetimeCheck> checks;  ///< By `at`, ascending.
  std::vector<DeadAtEnd> dead_at_end;
};

/// Those of the checks that are made when `c` starts.
std::span<const LifetimeCheck> checks_of(const Lifetimes& lifetimes, CommandId c);

/// Cost: linear in the accesses, times a logarithm of the allocs and frees of their slots.
Lifetimes find_lifetimes(const Setting& setting, const ByteMap& map);

}  // namespace memverify::sim
