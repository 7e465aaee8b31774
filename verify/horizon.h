// verify/horizon.h -- after how many iterations a loop has shown everything.
//
// Problem: a plan that runs any number of iterations has any number of command instances.
// Idea: every bound command waits for the past, at a distance in iterations that does not change.
//   Hold back one command of iteration j: if every iteration completes without later ones, all
//   before j completes, and what is left looks the same for every j from `steady` on. So whether
//   complete(a of j) precedes start(b of i) depends on i - j alone. On a byte whose accesses in the
//   loop do not all commute, the group of accesses before any access lies within one turn of the
//   slots (`period`), for within a turn back the same access happened, of another class than that
//   group; and orders of neighbouring groups compose. So a fault shows within `steady` iterations,
//   two turns, and the distance that accesses reach back; what the end of the plan finds depends on
//   the number of iterations modulo the turn.
//   Left are bytes that the loop only reads (or only accumulates into) and that an op of the first
//   or last iteration writes: a command of an ordered queue that waits for the first iteration does
//   so for ever after, and what waits for the last of a serial queue waits for all before it.
//   Semaphore values must be straight lines in `iteration`. A wait that grows as fast as the count
//   looks the same in every iteration; one that grows slower is met by all that came before from
//   some iteration on, which is then where the steady part begins; one that grows faster is never
//   met from some iteration on.
// Cost: O(plan), O(storages log storages), and O(signals * steady).
// Reference: docs/architecture.md, "Loops". Tested by tests/unit/verify/loop_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "plan/layout.h"
#include "verify/program.h"

namespace memverify {

struct Horizon {
  std::uint32_t steady = 1;  ///< From this iteration on everything looks the same.
  std::uint32_t turn = 1;    ///< The longest turn of slots that share bytes.
  /// Numbers of iterations that differ by this have the same end; the greatest number: unknown.
  std::uint64_t phases = ~std::uint64_t{0};
  std::uint32_t shows = 1;  ///< All numbers of iterations up to this show every fault, provided
                            ///< that the first `steady` + 1 complete without ops that run last.
  bool runs_dry =
      false;             ///< A semaphore falls behind: within `shows` iterations a wait is not met.
  std::string obstacle;  ///< Not empty: why no number of iterations shows everything.
};

/// `conditions` must hold iteration 0; conditions that may change are an obstacle.
Horizon find_horizon(const Plan& plan, const Layout& layout, const ConditionCase& conditions);

}  // namespace memverify
