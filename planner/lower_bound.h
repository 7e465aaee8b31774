// planner/lower_bound.h -- how many bytes every placement needs.
//
// Problem: the heaviest set of values of which no two may share bytes.
// Idea: "ends before the other begins" is a partial order, so the set is an antichain of it, and
// its
//   weight is that of a minimum chain cover (Dilworth, with weights): sum of weights less a maximum
//   flow S -> a_out -> b_in -> T over all a that end before b. The arcs in between go through the
//   places at which values begin (planner/value_places.h); a value that leads to one place, or is
//   led to by one alone, has no node of its own.
// Cost: O(values * chains) questions to the order, then a maximum flow over, with few waits between
//   queues, about ten arcs a value: seconds for 10^5 values on 8 queues.
// Example: w(a) on q0; r(a), w(b), r(b) on q1; r(a), w(c), r(c) on q2: no run has all three alive,
//   yet every placement needs all three. The antichain has them all.
// Reference: Dilworth 1950; docs/architecture.md.
// Tested by tests/unit/planner/lower_bound_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "planner/live_values.h"

namespace memverify {

struct Antichain {
  std::int64_t bytes = 0;              ///< Sum of the weights.
  std::vector<std::uint32_t> members;  ///< Indices of values, ascending.
};

/// Pairs of values of which the first may lie under the second though it does not end before it.
using SharingPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The heaviest set of values that must not share bytes. `weights` by value, >= 0; what has none is
/// left out. With sharing pairs there may be a heavier one. An empty set when there are too many
/// values and chains: more than 10^5 values on 200 chains.
Antichain heaviest_antichain(const LiveValues& live, const Order& order,
                             std::span<const std::int64_t> weights, const SharingPairs& sharing);

/// True iff no two members may share bytes and `bytes` is the sum of their weights. Asks every
/// pair; shares only the order of ops with the search.
bool holds(const Antichain& antichain, const LiveValues& live, const Order& order,
           std::span<const std::int64_t> weights, const SharingPairs& sharing);

}  // namespace memverify
