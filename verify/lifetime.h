// verify/lifetime.h -- use outside alloc…free (MV112).
//
// Problem: an access belongs to the latest alloc of its slot before it in program order; it must
//   come after that alloc and before the next free, in every run; allocs and frees must alternate.
// Idea: per slot the allocs and frees in program order; each access and each successive pair is one
//   happens-before question.
// Cost: O(accesses of storages with an alloc or free).
#pragma once

#include <cstdint>
#include <vector>

#include "verify/footprint.h"
#include "verify/order.h"
#include "verify/walk.h"

namespace memverify {

struct LifetimeFault {
  Cmd first = kNoCmd;   ///< In program order; kEndOfRun sorts last.
  Cmd second = kNoCmd;  ///< kNoCmd when there is only one command (an alloc that never ran).
  StorageId storage = kNone<StorageId>;
  TensorId tensor = kNone<TensorId>;  ///< Of the access, if one is involved.
  bool at_end = false;                ///< The access is that of the end of the run.
};

std::vector<LifetimeFault> lifetime_faults(const Program& program, const Walk& walk,
                                           const Order& order, const Footprints& footprints,
                                           std::uint64_t& pairs_checked);

}  // namespace memverify
