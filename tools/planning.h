// tools/planning.h -- a graph planned and the plan decided, or what is in the way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/result.h"
#include "planner/plan_graph.h"
#include "tools/report.h"

namespace memverify {

struct Planning {
  std::vector<Diagnostic> errors;  ///< Sizes that make no sense; everything below is then empty.
  /// On the graph with its tensors apart. Unless it is safe, no placement was looked for.
  Report apart;
  std::optional<PlannedGraph> planned;
  Report made;  ///< On the plan, if that fits its pools.

  bool is_refused() const { return !errors.empty() || !planned; }
  bool fits() const { return planned && planned->fits(); }
  /// Fits, and is proven safe.
  bool is_good() const {
    return fits() && made.verdict == Verdict::kSafe && made.internal_errors.empty();
  }
};

/// "graph.unbounded" for a symbol without a `max` that the size of a tensor without a place depends
/// on, the first; empty if there is none. With `takes_dims` it names `--dim`, which bounds symbols
/// of the file that the graph was made from.
std::vector<Diagnostic> sizes_without_bound(const Plan& graph, bool takes_dims = false);

/// Plans `graph` and has the outcome verified. `file` is what reports call it. Takes
/// `how.strategy.max_seconds`, besides what proofs take.
Planning make_planning(const std::string& file, const Plan& graph, const PlanGraphOptions& how);

/// Decides `plan` by happens-before, or by the next engine where that gives up.
Report decide_planned(const std::string& file, Plan plan);

}  // namespace memverify
