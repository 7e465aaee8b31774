// tests/support/random_plan.h -- small plans that use every key of the format.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "tools/draw.h"

namespace memverify::testing {

/// A plan file as an editable tree; keys sorted, so that its text is the same everywhere.
using PlanJson = nlohmann::json;

/// A plan of 2 to 8 ops (and the sync between them) on 1 to 3 queues over a few bytes; well formed
/// and safe more often than not before `mutate`. Same seed, same plan.
PlanJson random_plan(std::uint64_t seed);

/// The same, changed in one or two places in half of the seeds; always well formed.
PlanJson random_mutated_plan(std::uint64_t seed);

/// One random edit: drops, adds, moves or alters one thing. The result may be bad input.
void mutate(PlanJson& plan, Draw& draw);

/// nullopt when `plan` is bad input, or has a tensor without a place.
std::optional<Plan> plan_of(const PlanJson& plan);

}  // namespace memverify::testing
