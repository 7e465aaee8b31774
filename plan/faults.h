// plan/faults.h -- the faults of a plan that need no run to be seen.
//
// MV107 (in place, self overlap), MV108 (out of bounds), MV109 (alignment), MV110 (capacity,
// claimed peak), MV113 (view ops), and of MV106, MV112 and MV301 what the text of the plan alone
// decides: an input or constant that its own alias family writes though it may not, inputs and
// constants that share bytes, an input or constant in a storage that is alloc'ed, a claimed peak
// above the real one. What depends on order (races, versions, use outside alloc…free, deadlock) is
// for the engines.
#pragma once

#include <vector>

#include "plan/finding.h"
#include "plan/layout.h"
#include "plan/plan.h"

namespace memverify {

/// All of them for the symbol values of `layout`, sorted by rule, then ops and tensors; at most
/// `limit`. Iterations count: each access is checked at every combination of rotating slots that
/// occurs. Cost: linear in the accesses, times the number of different slot combinations of the op,
/// plus O(k log k) inside an op with k accesses. Who goes through several valuations keeps the
/// warning of a claimed peak above the real one only if every valuation has it: a peak is claimed
/// for the largest.
std::vector<Finding> static_faults(const Plan& plan, const Layout& layout, std::size_t limit);

}  // namespace memverify
