// planner/core_first.h -- the hard part of a large problem first, and exactly.
//
// Problem: on 10^4 buffers the exact search is lost, and a list places the large buffers before it
//   knows what has to fit around them.
// Idea: almost all steps are far below the heaviest one. What is live in the heaviest steps is the
//   core; it is placed alone, from the longest life down (a mountain, which leaves room on both
//   sides), and, if it is less than half of all, by the exact search. The rest goes around it, the
//   largest first, and has as much slack as the core leaves out.
// Cost: for each of five cores two list placements, and the time for its search.
// Example: of the 18,692 buffers of pangu_2.6B, 678 are live in steps of at least 95 % of the
//   load; the search places them at the bound in 680 nodes, and the others fit around them.
// Tested by tests/unit/planner/core_first_test.cpp.
#pragma once

#include <optional>

#include "planner/strategy.h"

namespace memverify {

/// The best of several cores; stops at the bound, or once the capacity is kept if that is enough.
/// nullopt if the problem has no live ranges to tell the core by.
std::optional<Placement> place_core_first(const Problem& problem, const StrategyOptions& options);

}  // namespace memverify
