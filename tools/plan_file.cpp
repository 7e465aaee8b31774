#include "tools/plan_file.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/words.h"
#include "plan/writer.h"
#include "planner/apart.h"
#include "planner/placed_plan.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/placed_report.h"
#include "tools/plan_advice.h"
#include "tools/plan_branches.h"
#include "tools/plan_buckets.h"
#include "tools/plan_output.h"
#include "tools/plan_report.h"
#include "tools/planning.h"
#include "tools/report_text.h"
#include "tools/verify_file.h"
#include "verify/cases.h"

namespace memverify {
namespace {

std::vector<Diagnostic> cannot_be_planned(const Plan& plan) {
  if (plan.pools.empty()) {
    return {{.id = "pool.none",
             .message = "the graph has no pool to place tensors in",
             .pointer = "/pools"}};
  }
  const Result<ApartPlan> apart = place_apart(plan);
  return apart.ok() ? cannot_be_verified(apart.value().plan) : apart.errors();
}

/// A plan: what it is, and whether there is room for it.
ExitCode check_placed(const PlanOptions& options, const PlanGraphOptions& how, Plan plan) {
  const PlacedPeaks peaks = placed_peaks(plan, how);
  if (!peaks.error.empty()) return usage_error("plan", peaks.error);
  const Report report = decide_planned(options.file, std::move(plan));
  if (options.json) {
    print_report(options, placed_json(report, peaks));
  } else {
    print_report(options, text_findings(report, Style::of(options.color, stdout)) +
                              placed_text(report.plan, peaks) +
                              "memverify: every tensor is placed already; " + outcome_line(report) +
                              "\n");
  }
  return peaks.fits() ? exit_code(report) : ExitCode::kUnsafe;
}

/// How much of the time is for the plan itself, so that there is some left for what may follow:
/// half where it is compared with another one, most where advice or slots may need some.
double part_of_first(const Plan& graph, const PlanGraphOptions& how, std::string_view branches) {
  if (!branches.empty()) return 0.5;
  return may_not_fit(graph, how) || most_slots(graph, how) > 1 ? 0.75 : 1;
}

ExitCode write_planned(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how,
                       const Planning& planning, const Allowance& allowance, PlanReport made) {
  const Report& report = planning.made;
  const bool may_be_written =
      options.strategy->is_safe() ? report.verdict == Verdict::kSafe : options.allow_unsafe;
  if (!may_be_written || !report.internal_errors.empty()) return refuse_unproven(options, report);
  if (!options.output.empty()) {
    const std::string problem = replace_file(options.output, write_plan(planning.planned->plan));
    if (!problem.empty()) {
      write_error("memverify plan: " + problem + "\n");
      return ExitCode::kBadInput;
    }
  }
  const bool is_safe = report.verdict == Verdict::kSafe;
  std::optional<SlotGain> slots;
  if (is_safe) slots = find_slot_gain(options.file, graph, how, planning, allowance);
  made.strategy = options.strategy->name;
  made.verdict = name(report.verdict);
  made.graph = &graph;
  made.planned = &*planning.planned;
  made.slots = slots ? &*slots : nullptr;
  print_report(options, options.json ? plan_json(made) : plan_text(made));
  if (!is_safe) warn_unsafe(options, report);
  return exit_code(report);
}

/// One place for all paths, or one for each, as asked for, with both prices.
ExitCode compare_branches(const PlanOptions& options, const Plan& graph,
                          const PlanGraphOptions& how, const Planning& together,
                          const Allowance& allowance) {
  const PlanGraphOptions next = allowance.part(part_of_first(graph, how, {}), how);
  const PathPlanning by_paths = plan_by_path(options.file, graph, next);
  const std::optional<SeparatePlan>& separate = by_paths.plan;
  const BranchPrices prices = branch_prices(together, by_paths);
  PlanReport report{.branches = &prices};
  const bool by_path = options.branches == "per-path";
  if (by_path && !separate) report.note = "no tensor can have a place for each path";
  const bool is_separate = by_path && separate;
  const Plan& planned_graph = is_separate ? separate->graph : graph;
  const Planning& chosen = is_separate ? separate->planning : together;
  if (!chosen.fits()) {
    write_error(branches_text(graph, prices));
    return refuse_size(options, planned_graph, how, *chosen.planned, allowance);
  }
  return write_planned(options, planned_graph, how, chosen, allowance, std::move(report));
}

ExitCode plan_graph_file(const PlanOptions& options, const Plan& graph,
                         const PlanGraphOptions& how) {
  if (const auto errors = sizes_without_bound(graph, options.takes_dims); !errors.empty()) {
    return refuse_errors(options, errors);
  }
  const Allowance allowance(options.seconds);
  Planning planning = make_planning(
      options.file, graph, allowance.part(part_of_first(graph, how, options.branches), how));
  if (!planning.errors.empty()) return refuse_errors(options, planning.errors);
  if (planning.is_refused()) return refuse_graph(options, planning.apart);
  if (!options.branches.empty()) {
    return compare_branches(options, graph, how, planning, allowance);
  }
  PlanReport made;
  if (!planning.fits() && options.degrade && most_slots(graph, how) > 1) {
    if (std::optional<FewerSlots> fewer = find_fewer_slots(options.file, graph, how, allowance)) {
      made.note = std::to_string(most_slots(graph, how)) + " slots do not fit; " +
                  counted(fewer->slots, "slot") + " each " + (fewer->slots == 1 ? "is" : "are") +
                  " taken instead";
      planning = std::move(fewer->planning);
    }
  }
  if (!planning.fits()) {
    return refuse_size(options, graph, how, *planning.planned, allowance);
  }
  return write_planned(options, graph, how, planning, allowance, std::move(made));
}

}  // namespace

ExitCode plan_file(PlanOptions options) {
  Loaded loaded = load_plan(options.file, cannot_be_planned, options.import);
  if (!loaded.plan) return refuse_input(options, std::move(loaded.errors));
  options.is_imported = loaded.is_imported;
  options.takes_dims = loaded.takes_dims;
  write_error(assumptions_text(options.import, loaded.assumptions));
  Plan& graph = *loaded.plan;
  PlanGraphOptions how;
  if (const std::string wrong = settle_options(graph, options, how); !wrong.empty()) {
    return usage_error("plan", wrong);
  }
  if (!options.lookup.empty()) return look_up_plan(options, graph, how);
  if (unplaced_roots(graph).empty()) return check_placed(options, how, std::move(graph));
  if (!options.buckets.empty()) return plan_buckets(options, graph, how);
  return plan_graph_file(options, graph, how);
}

}  // namespace memverify
