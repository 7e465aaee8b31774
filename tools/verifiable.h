// tools/verifiable.h -- what a plan must have before an engine is asked about it.
#pragma once

#include <optional>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

/// What makes a well-formed plan one that cannot be verified: unplaced tensors ("tensor.unplaced"),
/// sizes that make no sense at the least values of the symbols (`Layout::make`), or no op that
/// touches a byte ("plan.empty"). Cost: linear in the plan.
std::vector<Diagnostic> cannot_be_verified(const Plan& plan);
/// The same; where that is nothing, `least` is the layout for the least values.
std::vector<Diagnostic> find_obstacles(const Plan& plan, std::optional<Layout>& least);

}  // namespace memverify
