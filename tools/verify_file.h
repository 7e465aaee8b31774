// tools/verify_file.h -- from the name of a plan file to a confirmed report on it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/result.h"
#include "tools/engines.h"
#include "tools/import_options.h"
#include "tools/report.h"

namespace memverify {

/// Reads, checks, decides, and replays every run found. "-" is standard input. Never prints.
Report verify_file(const std::string& path, const EngineChoice& engines,
                   const EngineOptions& options, const ImportRequest& request = {});

/// Puts the findings of a report into words and replays their runs; what does not replay becomes an
/// internal error.
void confirm_findings(Report& report);

/// Fills `report.one_wait` where several errors have one; each finding's help names but its own.
/// Cost: a verification for each finding, at most 16, of plans of up to 2000 ops.
void note_one_wait(Report& report);

/// What makes a well-formed plan one that cannot be verified: unplaced tensors ("tensor.unplaced"),
/// sizes that make no sense at the least values of the symbols (`Layout::make`), or no op that
/// touches a byte ("plan.empty"). Cost: linear in the plan.
std::vector<Diagnostic> cannot_be_verified(const Plan& plan);

}  // namespace memverify
