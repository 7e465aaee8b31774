// tests/support/plan_features.h -- which parts of the format a plan uses.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/support/random_plan.h"

namespace memverify::testing {

/// Names such as "ops.kind=alloc", "access.distance", "wait.consume", "expr.min".
std::set<std::string> plan_features(const PlanJson& plan);

/// All that a checker takes: every key of docs/format.md and every value of its enumerations, but
/// for "unbounded", symbols without a bound and what only unplaced tensors have.
std::vector<std::string> all_plan_features();

}  // namespace memverify::testing
