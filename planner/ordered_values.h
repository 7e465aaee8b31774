// planner/ordered_values.h -- which values have anything before or after them.
//
// Problem: thousands of ops side by side make values that all clash; to ask every pair costs time,
//   and to write the clashes down costs memory.
// Idea: a value ends before another only if each of its last accesses is in the clock of a first
//   one. The greatest of all these clocks, chain by chain, tells at once which values end before
//   nothing; only the others need to be asked about.
// Cost: O(clocks) + (values that end) * values, of which most are answered by the first question.
// Tested by tests/unit/planner/lower_bound_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/live_values.h"

namespace memverify {

/// In the order of the values asked about. 0 is proven; 1 says no more than "perhaps".
struct OrderedValues {
  std::vector<std::uint8_t> ends;     ///< Before another begins.
  std::vector<std::uint8_t> follows;  ///< Begins after another has ended.
};

/// Looks at the values `among`, indices, and at no others.
OrderedValues ordered_values(const LiveValues& live, const Order& order,
                             std::span<const std::uint32_t> among);

}  // namespace memverify
