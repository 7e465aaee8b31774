#include "tools/library/check.h"

#include <algorithm>
#include <span>

#include "plan/suggest.h"
#include "plan/words.h"
#include "planner/apart.h"
#include "planner/placed_plan.h"
#include "planner/strategy.h"
#include "tools/ask_engines.h"
#include "tools/confirm.h"
#include "tools/exit_code.h"
#include "tools/plan_report.h"
#include "tools/planning.h"
#include "tools/report.h"
#include "tools/report_json.h"
#include "tools/report_text.h"
#include "tools/simulated.h"
#include "tools/verifiable.h"

namespace memverify {
namespace {

constexpr double kMostSeconds = 1e9;
constexpr std::int64_t kMostIterations = std::int64_t{1} << 32;

Diagnostic wrong_option(std::string id, std::string message) {
  return {.id = "option." + std::move(id), .message = std::move(message)};
}

/// "there is no engine `x`, only `auto` and `hb`", with the nearest.
std::string no_such(std::string_view what, const std::string& given,
                    std::span<const std::string_view> known) {
  Suggester suggester(given);
  std::vector<std::string> names;
  for (const std::string_view name : known) {
    suggester.consider(name);
    names.push_back(memverify::quoted(name));
  }
  return "there is no " + std::string(what) + " " + memverify::quoted(given) + ", only " +
         listed(names) + suggester.hint();
}

std::vector<Diagnostic> wrong_options(const VerifyOptions& options) {
  std::vector<Diagnostic> errors;
  if (select_engines(options.engine).engines.empty()) {
    std::vector<std::string_view> known = {"auto", "all"};
    for (const Engine& engine : engines()) known.push_back(engine.name);
    errors.push_back(wrong_option("engine", no_such("engine", options.engine, known)));
  }
  if (options.max_findings < 1) {
    errors.push_back(wrong_option("max_findings", "`max_findings` is at least 1"));
  }
  if (!(options.max_seconds >= 0 && options.max_seconds <= kMostSeconds)) {
    errors.push_back(wrong_option("max_seconds", "`max_seconds` is from 0 to a milliard"));
  }
  return errors;
}

bool is_right(const Plan& plan, const ConditionValue& given) {
  return index(given.condition) < plan.conditions.size() && given.iteration >= -1 &&
         (!plan.iterations || given.iteration < *plan.iterations);
}

bool is_right(const Plan& plan, const SymbolValue& given) {
  return index(given.symbol) < plan.symbols.size() &&
         admits(plan.symbols[given.symbol], given.value);
}

std::vector<Diagnostic> wrong_options(const Plan& plan, const SimOptions& options) {
  std::vector<Diagnostic> errors;
  const auto demand = [&](bool holds, std::string_view option, std::string_view rule) {
    if (holds) return;
    const std::string name(option);
    errors.push_back(wrong_option(name, memverify::quoted(name) + " is " + std::string(rule)));
  };
  demand(options.reduction <= Reduction::kClasses, "reduction", "none, sleep or classes");
  demand(options.max_findings >= 1, "max_findings", "at least 1");
  demand(options.max_seconds >= 0 && options.max_seconds <= kMostSeconds, "max_seconds",
         "from 0 to a milliard");
  demand(options.max_cases >= 1, "max_cases", "at least 1");
  demand(options.part_states >= 1, "part_states", "at least 1");
  demand(options.unbounded_iterations >= 1 && options.unbounded_iterations <= kMostIterations,
         "unbounded_iterations", "from 1 to 2^32");
  for (const SymbolValue& given : options.symbols) {
    demand(is_right(plan, given), "symbols", "a list of the plan's symbols with values they take");
  }
  for (const ConditionValue& given : options.when) {
    demand(is_right(plan, given), "when", "a list of the plan's conditions in its iterations");
  }
  return errors;
}

std::vector<Diagnostic> wrong_options(const PlaceOptions& options) {
  std::vector<Diagnostic> errors;
  const Strategy* strategy = find_strategy(options.strategy);
  if (strategy == nullptr || !strategy->is_safe()) {
    std::vector<std::string_view> known;
    for (const Strategy& safe : strategies()) known.push_back(safe.name);
    errors.push_back(wrong_option("strategy", no_such("safe strategy", options.strategy, known)));
  }
  if (!(options.max_seconds > 0 && options.max_seconds <= kMostSeconds)) {
    errors.push_back(wrong_option("max_seconds", "`max_seconds` is above 0, up to a milliard"));
  }
  if (options.capacity && *options.capacity < 0) {
    errors.push_back(wrong_option("capacity", "`capacity` is at least 0"));
  }
  if (options.slots && *options.slots < 1) {
    errors.push_back(wrong_option("slots", "`slots` is at least 1"));
  }
  return errors;
}

std::vector<Diagnostic> cannot_be_placed(const Plan& graph) {
  if (graph.pools.empty()) {
    return {{.id = "pool.none",
             .message = "the graph has no pool to place tensors in",
             .pointer = "/pools"}};
  }
  if (unplaced_roots(graph).empty()) {
    return {{.id = "graph.placed",
             .message = "every tensor has a place already: this is a plan, to be verified",
             .pointer = "/tensors"}};
  }
  if (auto errors = sizes_without_bound(graph); !errors.empty()) return errors;
  const Result<ApartPlan> apart = place_apart(graph);
  return apart.ok() ? cannot_be_verified(apart.value().plan) : apart.errors();
}

}  // namespace

Verification::Verification(Report report)
    : report_(std::make_shared<const Report>(std::move(report))) {}

Verdict Verification::verdict() const { return report_->verdict; }
const Plan& Verification::plan() const { return report_->plan; }
const std::vector<Finding>& Verification::findings() const { return report_->findings; }
const std::vector<std::pair<std::string_view, Verdict>>& Verification::engines() const {
  return report_->engines;
}
std::string_view Verification::decided_by() const { return report_->decided_by; }
bool Verification::stopped_at_max_findings() const { return report_->stopped_at_max_findings; }
const VerifyStats& Verification::stats() const { return report_->stats; }
const std::vector<std::string>& Verification::internal_errors() const {
  return report_->internal_errors;
}
int Verification::exit_code() const { return static_cast<int>(memverify::exit_code(*report_)); }
std::string Verification::text() const { return text_report(*report_, Style()); }
std::string Verification::json() const { return json_report(*report_, JsonLayout::kPretty); }
std::string Verification::text(const Finding& finding) const {
  return text_finding(report_->plan, finding, Style());
}

Result<Verification> verify(Plan plan, const VerifyOptions& options) {
  if (auto errors = wrong_options(options); !errors.empty()) return errors;
  std::optional<Layout> least;
  if (auto errors = find_obstacles(plan, least); !errors.empty()) return errors;
  Report report{.file = options.file, .plan = std::move(plan)};
  ask_engines(report, select_engines(options.engine),
              {.max_findings = options.max_findings, .max_seconds = options.max_seconds}, nullptr,
              &*least);
  confirm_findings(report);
  note_one_wait(report);
  return Verification(std::move(report));
}

Result<Verification> simulate(Plan plan, const SimOptions& options, const std::string& file) {
  if (auto errors = cannot_be_verified(plan); !errors.empty()) return errors;
  if (auto errors = wrong_options(plan, options); !errors.empty()) return errors;
  Report report{.file = file, .plan = std::move(plan)};
  SimStats stats;
  EngineResult result = memverify::simulate(report.plan, options, stats);
  adopt_search(report, std::move(result), options, std::move(stats));
  confirm_findings(report);
  return Verification(std::move(report));
}

struct PlacedGraph::State {
  Plan graph;
  std::string strategy;
  Planning planning;

  PlanReport report() const {
    PlanReport made;
    made.strategy = strategy;
    if (planning.fits()) made.verdict = name(planning.made.verdict);
    made.graph = &graph;
    made.planned = &*planning.planned;
    return made;
  }
};

PlacedGraph::PlacedGraph(Plan graph, std::string strategy, Planning planning)
    : state_(std::make_shared<const State>(
          State{std::move(graph), std::move(strategy), std::move(planning)})) {}

bool PlacedGraph::is_placed() const { return state_->planning.is_good(); }
const Plan& PlacedGraph::plan() const { return state_->planning.planned->plan; }

Verdict PlacedGraph::verdict() const {
  const Planning& planning = state_->planning;
  if (planning.is_refused()) return planning.apart.verdict;
  return planning.fits() ? planning.made.verdict : Verdict::kUnsafe;
}

int PlacedGraph::exit_code() const {
  const Planning& planning = state_->planning;
  if (planning.is_refused()) return static_cast<int>(memverify::exit_code(planning.apart));
  if (!planning.fits()) return static_cast<int>(ExitCode::kUnsafe);
  return static_cast<int>(planning.is_good() ? ExitCode::kSafe : ExitCode::kInternal);
}

std::string PlacedGraph::text() const {
  const Planning& planning = state_->planning;
  if (planning.is_refused()) return text_report(planning.apart, Style());
  if (!planning.fits()) return too_small_text(state_->report(), Style());
  if (!planning.is_good()) return text_report(planning.made, Style());
  return plan_text(state_->report());
}

std::string PlacedGraph::json() const {
  const Planning& planning = state_->planning;
  if (planning.is_refused()) return json_report(planning.apart, JsonLayout::kPretty);
  if (planning.fits() && !planning.is_good()) {
    return json_report(planning.made, JsonLayout::kPretty);
  }
  return plan_json(state_->report());
}

Result<PlacedGraph> place(Plan graph, const PlaceOptions& options) {
  if (auto errors = wrong_options(options); !errors.empty()) return errors;
  if (auto errors = cannot_be_placed(graph); !errors.empty()) return errors;
  PlanGraphOptions how;
  how.place = find_strategy(options.strategy)->place;
  how.strategy.max_seconds = options.max_seconds;
  how.strategy.max_nodes = options.max_nodes;
  how.slots = options.slots;
  how.capacity = options.capacity;
  Planning planning = make_planning(options.file, graph, how);
  if (!planning.errors.empty()) return planning.errors;
  return PlacedGraph(std::move(graph), options.strategy, std::move(planning));
}

}  // namespace memverify
