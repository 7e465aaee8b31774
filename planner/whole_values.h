// planner/whole_values.h -- live ranges of whole tensors, the same for all symbol values.
//
// Where symbols have too many values to try, the bytes of an access are not known. But which ops
// run, and what orders them, is: so a buffer is one value, from its first access to its last, that
// any access may touch anywhere. That keeps more apart than need be, never less.
// Cost: linear in accesses, times chains.
// Tested by tests/unit/planner/many_values_test.cpp.
#pragma once

#include <optional>

#include "planner/apart.h"
#include "planner/live_values.h"

namespace memverify {

/// True iff no sync of the plan depends on a symbol and every byte belongs to an unplaced tensor.
bool whole_values_apply(const ApartPlan& apart);

/// A value for each buffer that is accessed or holds something before the start or after the end;
/// `ignored`, by buffer, are left out. nullopt: an op may touch anything.
std::optional<LiveValues> whole_values(const ApartPlan& apart, const Program& program,
                                       const Walk& walk, const Order& order,
                                       const std::vector<std::uint8_t>& ignored);

/// True iff two tensors of the plan surely have the same elements at the same offsets from their
/// first, whatever the symbols are.
bool surely_alike(const Plan& plan, TensorId a, TensorId b);

}  // namespace memverify
