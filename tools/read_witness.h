// tools/read_witness.h -- a finding back from JSON: what a witness file holds.
#pragma once

#include <string_view>

#include "plan/finding.h"
#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

/// The finding in `text`: an object as in docs/format.md, "Verdicts and exit codes", or the first
/// finding of a result that has a run. Only what replay() looks at is read: rule, ops, iterations,
/// tensors, pool, bytes, conditions, symbols, run. Errors: "json.syntax", "witness.finding" (there
/// is none), "witness.name" (the plan has no such thing), "witness.field" (a value of the wrong
/// type).
Result<Finding> read_witness(const Plan& plan, std::string_view text);

}  // namespace memverify
