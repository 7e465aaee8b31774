// tools/fuzz_minimal.h -- from a case with a finding to the smallest that has the same.
#pragma once

#include <string>

#include "tools/fuzz_target.h"
#include "tools/shrink.h"

namespace memverify {

/// A finding made small, as texts to keep.
struct MinimalCase {
  std::string fingerprint;  ///< 16 hex digits: the same for cases of one shape.
  std::string graph;        ///< As small as the planner still fails on it; "" of a mutated plan.
  std::string plan;         ///< As small as it still has the finding; "" without a plan.
  std::string expected;     ///< The text report on `plan`.
  std::string headline;     ///< One line for people.
  std::size_t ops = 0;      ///< Of the plan, else of the graph.
  std::vector<std::string> internal_errors;  ///< A run that does not replay, engines that disagree.
};

/// Shrinks the graph as long as the planner fails on it in the same way (for an unsafe plan: with a
/// finding of the same rule on the same ops), then the plan as long as it has that finding and none
/// that is new. Nothing more can be removed from either; `max_calls` bounds the plans made and
/// decided for each (0: no limit).
MinimalCase minimal_case(const Plan& graph, const Tried& tried, FuzzTarget& target,
                         const EngineChoice& engines, std::size_t max_calls);

/// The same for a plan that no planner made.
MinimalCase minimal_plan(const Tried& tried, const EngineChoice& engines, std::size_t max_calls);

/// The same for findings that one look tells are alike, before they are made small: the rule, on
/// what queues and kinds of tensors.
std::string signature_of(const Tried& tried);

/// Of the shape of a plan or graph: names and numbers do not count.
std::string fingerprint_of(const PlanJson& plan, const CaseResult& result);

}  // namespace memverify
