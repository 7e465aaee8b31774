// tools/plan_file.h -- `memverify plan GRAPH`: one plan for a graph, or one that is there checked.
#pragma once

#include "plan/plan.h"
#include "tools/exit_code.h"
#include "tools/plan_options.h"

namespace memverify {

/// Reads the file and does what the options say. Prints.
ExitCode plan_file(PlanOptions options);

}  // namespace memverify
