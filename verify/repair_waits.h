// verify/repair_waits.h -- the fewest waits that make an unsafe plan safe.
//
// Problem: find the least set of waits "complete(a) before start(b)" after which no run goes wrong
//   and none blocks.
// Idea: more waits only take runs away, so a fault that is there with many waits is there with
//   fewer of them; and unless queues compete for signals, a deadlock with few is there with more.
//   Hence two kinds of clauses, learnt from candidates that fail: a set that leaves a fault is
//   grown until it just still does, and one of the waits outside it is needed; a set that blocks is
//   shrunk until it just still does, and not all of it may be taken. The solver proposes the
//   smallest set that meets all clauses; when it proposes a safe one, no smaller one is.
// Cost: a verification for each proposal, and for each clause as many as its waits times the
//   logarithm of the candidates. Exact while the candidates and the verifications stay within the
//   options; beyond, waits are added for one finding after the other and then taken out again as
//   long as the plan stays safe: *inclusion-minimal*.
// Tested by tests/unit/verify/repair_waits_test.cpp against a brute force that asks the simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/edit.h"
#include "plan/finding.h"
#include "plan/plan.h"
#include "verify/repair.h"

namespace memverify {

/// "`make_b` waits for `use_a`"; of an iteration before, where the distance is not 0, and that
/// `use_a` is submitted later, where it is.
std::string describe(const Plan& plan, const AddedWait& wait);

struct WaitRepair {
  /// Each makes the plan safe, which was decided; all are of one size. Empty: see `why_not`.
  std::vector<std::vector<AddedWait>> sets;
  bool is_exact = false;  ///< No smaller set of waits does; else no set is smaller by inclusion.
  std::string why_not;    ///< A sentence without its full stop, when there is no set.
  std::size_t candidates = 0;
  std::size_t verifications = 0;
};

/// The candidates are all pairs of runtime commands of the plan, in both directions; in a plan that
/// repeats with every distance up to that of the findings, at least 1 and at most 4, and at any
/// distance those between the ops of a finding, of which there are at most 64 or so. Exact is then
/// only a set of one wait, unless no iterations lie further apart. All tensors must be placed. A
/// safe plan gets one empty set.
WaitRepair repair_by_waits(const Plan& plan, const RepairOptions& options = {});

/// The candidates whose order is open, in a plan that runs once and has one case; else all. None of
/// plans of more than 200 ops.
std::vector<AddedWait> useful_waits(const Plan& plan);

/// The one wait that alone makes the plan safe, of those that its findings name; nullopt if none of
/// them does. Cost: a verification for each finding, at most 16.
std::optional<AddedWait> one_wait_for(const Plan& plan, std::span<const Finding> findings,
                                      const Decide& decide = {});

}  // namespace memverify
