// tools/plan_buckets.h -- a plan for each range of symbol values: made once, looked up at run time.
#pragma once

#include "plan/plan.h"
#include "planner/plan_graph.h"
#include "tools/exit_code.h"
#include "tools/plan_options.h"

namespace memverify {

/// `memverify plan GRAPH --buckets … -o CACHE`: plans every combination of the values, and of the
/// symbols' greatest ones, each plan for all values up to its own; takes from the cache what is in
/// it under the same key.
ExitCode plan_buckets(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how);

/// `memverify plan GRAPH --lookup CACHE --values …`: the plan of the bucket with the lowest peak
/// that covers the values, verified again.
ExitCode look_up_plan(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how);

}  // namespace memverify
