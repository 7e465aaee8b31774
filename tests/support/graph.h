// tests/support/graph.h -- plans without their addresses: graphs for the planner.
#pragma once

#include "tests/support/random_plan.h"
#include "tools/unplaced.h"

namespace memverify::testing {

using memverify::without_addresses;

/// A graph of 2 to `most_tensors` (> 2) tensors of 1 to 3 bytes on 1 to 3 queues, with parts,
/// values in turn, in-place pairs and alignments, and sometimes an input. Often unsafe wherever its
/// tensors lie. Same seed, same graph.
PlanJson random_small_graph(std::uint64_t seed, std::size_t most_tensors = 4);

}  // namespace memverify::testing
