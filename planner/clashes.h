// planner/clashes.h -- which values must not share bytes.
//
// Problem: two values may share bytes iff all accesses of one complete before the first of the
//   other starts, in one of the two directions. All pairs are too many to ask.
// Idea: go through the first accesses in the order of a walk. A value that begins later than
// another
//   cannot end before it, so one question is left. Each chain keeps a list of the values that have
//   not ended as far as its latest command knows; what has ended for one command of a chain has for
//   all that follow, so every question either finds a clash or shortens a list for good.
// Cost: O(clashes + values * chains) questions.
// Tested by tests/unit/planner/plan_graph_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "planner/live_values.h"

namespace memverify {

/// True iff all accesses of `a` complete before any of `b` starts.
bool ends_before(const LiveValues& live, const Order& order, const LiveValue& a,
                 const LiveValue& b);

/// Calls `visit(a, b)`, indices of values, for each pair of which neither ends before the other; a
/// pair may come more than once. Only the start of `b` may come first of the two if both start at
/// once.
void for_each_clash(const LiveValues& live, const Order& order, const Walk& walk,
                    const std::function<void(std::uint32_t, std::uint32_t)>& visit);

}  // namespace memverify
