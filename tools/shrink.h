// tools/shrink.h -- the smallest plan that still shows something.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

namespace memverify {

/// A plan file as an editable tree; keys sorted, so that its text is the same everywhere.
using PlanJson = nlohmann::json;

/// Takes away ops, declarations with everything that refers to them, list entries, keys, and lowers
/// numbers, one at a time, as long as `holds` stays true; ends when no single step does.
/// `holds(plan)` must be true, and false for bad input. Cost: quadratic in the size of the plan, in
/// calls of `holds`.
PlanJson shrink(PlanJson plan, const std::function<bool(const PlanJson&)>& holds);

}  // namespace memverify
