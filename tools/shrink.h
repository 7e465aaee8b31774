// tools/shrink.h -- the smallest plan that still shows something.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>

namespace memverify {

/// A plan file as an editable tree; keys sorted, so that its text is the same everywhere.
using PlanJson = nlohmann::json;

/// Takes away ops, declarations with everything that refers to them, list entries and keys, first
/// many at once, then one at a time; lets ops of one queue run on another, and those of a view
/// touch its base; lowers numbers; as long as `holds` stays true. Ends when no single such step
/// keeps it, or after `max_calls` of `holds`; 0: no limit. `holds(plan)` must be true, and false
/// for bad input. Cost: quadratic in the size of the plan, in calls of `holds`.
PlanJson shrink(PlanJson plan, const std::function<bool(const PlanJson&)>& holds,
                std::size_t max_calls = 0);

}  // namespace memverify
