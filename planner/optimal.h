// planner/optimal.h -- the lowest peak there is, or the best that was found in time.
#pragma once

#include "planner/offset_search.h"
#include "planner/strategy.h"

namespace memverify {

/// The best of first-fit, best-fit, greedy-death, by-size, by-conflicts and bitset.
Placement best_list_placement(const Problem& problem);

/// Starts from the best list placement, then searches below it: by offsets, or where parts of
/// buffers clash by which part is below which. What shares no clash is searched alone. Aims at the
/// capacity first, and stops there if that is enough, else at the bound. `is_optimal` needs a
/// proof: the peak is the bound, or the search went through all placements with a lower one.
Placement optimal_placement(const Problem& problem, const StrategyOptions& options,
                            OffsetSearchSwitches switches = {});

}  // namespace memverify
