// tests/support/reference.h -- a naive verifier, obviously right rather than fast.
//
// It executes section 2 of docs/format.md literally: every symbol value, every condition value,
// every iteration unrolled, every reachable state visited once, every byte by itself. It shares no
// code with sim/ or verify/, nor with plan/layout.h, plan/region.h and plan/faults.h, so that a
// mistake there cannot hide here. The agreement tests hold every engine to it.
#pragma once

#include <cstdint>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify::testing {

struct ReferenceLimits {
  std::uint64_t max_states = 200'000;    ///< Of one run's exploration.
  std::uint64_t max_assignments = 4096;  ///< Condition values times symbol values.
  std::int64_t max_commands = 200;       ///< Command instances of one run.
  std::int64_t max_bytes = 1 << 20;      ///< Of one access.
};

/// Rules, ops and tensors/storages/pools of all findings, without messages or witnesses, sorted and
/// without repetition. `also` holds every other way in which the pair clashes in any iteration.
/// Beyond a limit, for unbounded plans and symbols and for unplaced tensors, the verdict is
/// kUnknown with one MV201 that names no op. MV301 covers what faults.h lists and waits that never
/// bind, not unused syncs. Cost: exponential in everything.
EngineResult reference(const Plan& plan, const ReferenceLimits& limits);

}  // namespace memverify::testing
