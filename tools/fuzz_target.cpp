#include "tools/fuzz_target.h"

#include <algorithm>
#include <utility>

#include "plan/describe.h"
#include "planner/placed_plan.h"
#include "planner/plan_graph.h"
#include "tools/decide.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

constexpr std::uint64_t kSearchNodes = 2000;
constexpr double kNoTimeLimit = 1e9;
constexpr double kEngineSeconds = 10;
constexpr std::size_t kMostFindings = 16;

class StrategyTarget : public FuzzTarget {
 public:
  explicit StrategyTarget(const Strategy& strategy) {
    options_.place = strategy.place;
    options_.wrong_clashes = strategy.wrong_clashes;
    options_.bounds = false;
    options_.strategy.max_seconds = kNoTimeLimit;
    options_.strategy.max_nodes = kSearchNodes;
  }

  Answer plan(const Plan& graph, const ApartPlan& apart) override {
    PlannedGraph planned = plan_graph(graph, apart, options_);
    if (!planned.fits()) return {.outcome = Outcome::kRefused, .detail = "it does not fit"};
    return {.plan = std::move(planned.plan)};
  }

 private:
  PlanGraphOptions options_;
};

CaseResult result_of(const Report& report) {
  switch (report.verdict) {
    case Verdict::kSafe:
      return {.outcome = Outcome::kSafe};
    case Verdict::kUnknown:
      return {.outcome = Outcome::kUnknown};
    case Verdict::kUnsafe:
      return {.outcome = Outcome::kUnsafe, .rule = report.findings.front().rule};
  }
  return {};
}

}  // namespace

std::unique_ptr<FuzzTarget> strategy_target(const Strategy& strategy) {
  return std::make_unique<StrategyTarget>(strategy);
}

Tried try_plan(Plan plan, const EngineChoice& engines) {
  Report report;
  report.plan = std::move(plan);
  decide(report, engines, {.max_findings = kMostFindings, .max_seconds = kEngineSeconds});
  std::erase_if(report.findings,
                [](const Finding& f) { return info(f.rule).severity != Severity::kError; });
  for (Finding& finding : report.findings) describe(report.plan, finding);
  return {.result = result_of(report),
          .plan = std::move(report.plan),
          .findings = std::move(report.findings),
          .decided_by = report.decided_by,
          .internal_errors = std::move(report.internal_errors)};
}

Tried try_graph(const Plan& graph, FuzzTarget& target, const EngineChoice& engines) {
  const Tried not_planned{.result = {.outcome = Outcome::kNotPlanned}};
  if (graph.pools.empty() || unplaced_roots(graph).empty()) return not_planned;
  const Result<ApartPlan> apart = place_apart(graph);
  if (!apart.ok() || !cannot_be_verified(apart.value().plan).empty()) return not_planned;
  if (try_plan(apart.value().plan, engines).result.outcome != Outcome::kSafe) return not_planned;
  Answer answer = target.plan(graph, apart.value());
  if (!answer.plan) {
    return {.result = {.outcome = answer.outcome}, .detail = std::move(answer.detail)};
  }
  return try_plan(std::move(*answer.plan), engines);
}

}  // namespace memverify
