// tools/fuzz_target.h -- planners under test, and what one of them makes of a graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"
#include "planner/apart.h"
#include "planner/strategy.h"
#include "tools/engines.h"
#include "tools/fuzz_features.h"

namespace memverify {

/// What a planner answered.
struct Answer {
  Outcome outcome = Outcome::kSafe;  ///< kSafe: there is a plan, of which nothing is known yet.
  std::optional<Plan> plan;
  std::string detail;  ///< Of an answer without a plan: what happened, as a clause.
};

class FuzzTarget {
 public:
  FuzzTarget() = default;
  FuzzTarget(const FuzzTarget&) = delete;
  FuzzTarget& operator=(const FuzzTarget&) = delete;
  virtual ~FuzzTarget() = default;
  /// `apart` is the graph with its tensors apart, and safe.
  virtual Answer plan(const Plan& graph, const ApartPlan& apart) = 0;
};

/// One of memverify's own. The same graph always has the same plan: searches stop by nodes.
std::unique_ptr<FuzzTarget> strategy_target(const Strategy& strategy);

/// One case, decided.
struct Tried {
  CaseResult result;
  std::optional<Plan> plan;       ///< Of kSafe, kUnsafe and kUnknown.
  std::vector<Finding> findings;  ///< Errors, of kUnsafe; described, sorted by rule, then ops.
  std::string_view decided_by;    ///< The engine that did; "" without a plan.
  std::string detail;             ///< Of findings without a plan.
  std::vector<std::string> internal_errors;  ///< Engines that disagree.
};

/// Decides `plan`: kSafe, kUnsafe or kUnknown.
Tried try_plan(Plan plan, const EngineChoice& engines);

/// Has the graph planned and decides the plan. A graph that is not safe with its tensors apart, has
/// no unplaced tensor or no pool is kNotPlanned.
Tried try_graph(const Plan& graph, FuzzTarget& target, const EngineChoice& engines);

}  // namespace memverify
