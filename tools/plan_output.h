// tools/plan_output.h -- what `memverify plan` prints, and where it ends without a plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"
#include "tools/allowance.h"
#include "tools/diagnostics.h"
#include "tools/exit_code.h"
#include "tools/plan_options.h"
#include "tools/planning.h"

namespace memverify {

/// On standard output, unless the plan goes there.
void print_report(const PlanOptions& options, std::string_view text);

/// Bad input: on standard error, and as a report if that is JSON. So do the next two.
ExitCode refuse_input(const PlanOptions& options, std::vector<InputError> errors);
ExitCode refuse_errors(const PlanOptions& options, std::vector<Diagnostic> errors);

/// The graph is at fault, wherever its tensors lie; `report` is on that.
ExitCode refuse_graph(const PlanOptions& options, const Report& report);

/// The graph does not fit: what is missing, and what would, as far as that is found within the
/// allowance. `note` is for the JSON report.
ExitCode refuse_size(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how,
                     const PlannedGraph& planned, const Allowance& allowance,
                     std::string note = "");

/// What is wrong with a plan that is written though its strategy promised nothing.
void warn_unsafe(const PlanOptions& options, const Report& report);

/// The plan was not proven safe, which is a bug.
ExitCode refuse_unproven(const PlanOptions& options, const Report& report);

}  // namespace memverify
