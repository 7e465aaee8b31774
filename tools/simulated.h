// tools/simulated.h -- a report on the runs that a search has executed.
#pragma once

#include "plan/finding.h"
#include "sim/simulate.h"
#include "tools/report.h"

namespace memverify {

/// Fills the verdict, the findings and `report.search` with what `simulate` found with `options`.
void adopt_search(Report& report, EngineResult result, const SimOptions& options, SimStats stats);

}  // namespace memverify
