// verify/loop.h -- which numbers of iterations to unroll.
//
// Problem: a plan's iterations may be a million or unbounded, and they repeat.
// Idea: what a horizon says (verify/horizon.h). An unbounded plan is run with every number of
//   iterations up to it, so that a fault is found at the first iteration that has it, and no fault
//   is a proof. Of many iterations, the least number beyond the horizon that ends in the same phase
//   stands for all; if it has a fault, the first iterations are looked at instead, and where they
//   do not show it (the end does), all.
// Tested by tests/unit/verify/loop_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/layout.h"
#include "verify/program.h"
#include "verify/verify.h"

namespace memverify {

struct LoopRuns {
  /// Run these numbers of iterations in full, ascending. One number: the plan's own, or its
  /// stand-in.
  std::uint32_t first = 1, last = 1;
  bool reaches_end = true;  ///< False: the plan goes on after `last`.
  /// `last` stands for more iterations: a fault must be looked for again in the first `shows` of
  /// them, or in all.
  bool stands_in = false;
  std::uint32_t shows = 1;
  bool must_fail = false;  ///< If no fault is found, the reasoning has a gap.
  std::string not_proven;  ///< Not empty: why a run without fault proves nothing.
  std::string help;
};

/// At most about `options.max_instances` command instances are run.
LoopRuns choose_runs(const Plan& plan, const Layout& layout, const ConditionCase& conditions,
                     const HbOptions& options);

}  // namespace memverify
