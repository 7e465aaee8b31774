// planner/first_flow.h -- a flow to start from, found in one pass.
//
// Problem: a maximum flow on long rows of nodes takes most of its time for what is easy: what comes
//   in goes out again a few nodes further on.
// Idea: of each node keep only its first arc to another node. In the forest that is left, take the
//   sources from the far end on, and send what each has to the nearest node that still leads to the
//   sink; nodes that have no room left are skipped by path compression.
// Cost: O(arcs) but for an inverse Ackermann function.
// Tested by tests/unit/planner/min_cut_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/min_cut.h"

namespace memverify {

/// A network with the same minimum cuts in which a first flow is taken care of: less capacity at
/// the source and the sink, and arcs along which the flow can be sent back.
std::vector<FlowArc> after_first_flow(std::span<const FlowArc> arcs, std::uint32_t nodes);

}  // namespace memverify
