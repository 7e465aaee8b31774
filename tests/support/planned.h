// tests/support/planned.h -- graphs planned by the library, for tests of the planner.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <utility>

#include "plan/reader.h"
#include "planner/plan_graph.h"
#include "tests/support/random_plan.h"
#include "verify/verify.h"

namespace memverify::testing {

inline Verdict hb_verdict(const Plan& plan) { return verify_happens_before(plan, {}).verdict; }

/// The graph text as a plan; fails the test when it does not read.
inline Plan graph_of(const PlanJson& json) {
  Result<Plan> plan = read_plan(json.dump(), "");
  EXPECT_TRUE(plan.ok()) << json.dump();
  return plan.ok() ? std::move(plan).value() : Plan();
}

/// A graph that is safe with its tensors apart, and what may share bytes in it.
struct SafeGraph {
  Plan graph;
  ApartPlan apart;
  GraphClashes clashes;
};

/// nullopt: the graph is not safe wherever its tensors lie.
inline std::optional<SafeGraph> safe_graph(const Plan& graph,
                                           std::optional<std::int64_t> slots = {}) {
  const Result<ApartPlan> apart = place_apart(graph, slots);
  if (!apart.ok() || hb_verdict(apart.value().plan) != Verdict::kSafe) return std::nullopt;
  return SafeGraph{graph, apart.value(), find_graph_clashes(apart.value())};
}

/// Searches stop by nodes, not by time.
inline PlanGraphOptions by(const Strategy& strategy) {
  PlanGraphOptions options{.place = strategy.place, .wrong_clashes = strategy.wrong_clashes};
  options.strategy.max_seconds = 1e6;
  options.strategy.max_nodes = 2000;
  return options;
}

inline PlanGraphOptions by(std::string_view strategy) { return by(*find_strategy(strategy)); }

inline PlannedGraph planned_by(const SafeGraph& safe, const Strategy& strategy) {
  return plan_graph(safe.graph, safe.apart, by(strategy));
}

}  // namespace memverify::testing
