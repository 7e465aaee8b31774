// `memverify plan`: a graph in, a plan out that is verified before it is written.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/suggest.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "planner/apart.h"
#include "planner/graph_clashes.h"
#include "planner/placed_plan.h"
#include "planner/plan_graph.h"
#include "planner/strategy.h"
#include "tools/command.h"
#include "tools/decide.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/plan_csv.h"
#include "tools/plan_report.h"
#include "tools/report_text.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

struct PlanOptions {
  std::string file;
  std::string output;
  std::string strategy;
  std::vector<std::string> pools;
  std::optional<std::int64_t> capacity;
  std::optional<std::int64_t> slots;
  ImportRequest import;
  StrategyOptions search;
  std::vector<std::int64_t> blocks = {kStandardBlocks.begin(), kStandardBlocks.end()};
  bool allow_unsafe = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

std::vector<Diagnostic> cannot_be_planned(const Plan& plan) {
  if (plan.pools.empty()) {
    return {{.id = "pool.none",
             .message = "the graph has no pool to place tensors in",
             .pointer = "/pools"}};
  }
  const Result<ApartPlan> apart = place_apart(plan);
  return apart.ok() ? cannot_be_verified(apart.value().plan) : apart.errors();
}

Report decided(const PlanOptions& options, Plan plan) {
  Report report{.file = options.file};
  report.plan = std::move(plan);
  decide(report, select_engines("hb"), {});
  if (report.verdict == Verdict::kUnknown) {
    report.engines.clear();
    decide(report, select_engines("auto"), {});
  }
  confirm_findings(report);
  return report;
}

void print(const PlanOptions& options, std::string_view text) {
  if (options.output == "-") return write_error(text);
  StandardOutput output;
  output.write(text);
  output.finish(ExitCode::kSafe);
}

/// The graph is at fault, wherever its tensors lie.
ExitCode refuse_graph(const PlanOptions& options, const Report& report) {
  const Style style = Style::of(options.color, stderr);
  write_error(text_findings(report, style) + "memverify plan: the graph is " +
              std::string(name(report.verdict)) +
              (report.verdict == Verdict::kUnsafe ? " wherever its tensors lie" : "") +
              "; nothing was written\n");
  return report.verdict == Verdict::kUnsafe ? ExitCode::kBadInput : ExitCode::kUnknown;
}

ExitCode recheck(const PlanOptions& options, Plan plan) {
  const Report report = decided(options, std::move(plan));
  print(options, text_findings(report, Style::of(options.color, stdout)) +
                     "memverify: every tensor is placed already; " + outcome_line(report) + "\n");
  return exit_code(report);
}

/// Writes what a strategy made that promised nothing, with what is wrong with it on stderr.
ExitCode write_doubtful(const PlanOptions& options, const PlanReport& made, const Report& report) {
  const Style style = Style::of(options.color, stderr);
  print(options, options.json ? plan_json(made) : plan_text(made));
  write_error(text_findings(report, style) + style.warning("warning") + ": the plan is " +
              std::string(name(report.verdict)) + ", and written because of --allow-unsafe\n");
  return exit_code(report);
}

ExitCode write_planned(const PlanOptions& options, const Plan& graph, const PlannedGraph& planned,
                       const Strategy& strategy) {
  const Report report = decided(options, planned.plan);
  const bool is_safe = report.verdict == Verdict::kSafe;
  if ((!is_safe && strategy.is_safe()) || !report.internal_errors.empty()) {
    write_error(text_report(report, Style::of(options.color, stderr)) +
                "memverify plan: internal error: the plan is not proven safe; nothing was "
                "written\nPlease report this with the graph.\n");
    return ExitCode::kInternal;
  }
  const std::string problem = replace_file(options.output, write_plan(planned.plan));
  if (!problem.empty()) {
    write_error("memverify plan: " + problem + "\n");
    return ExitCode::kBadInput;
  }
  const PlanReport made{.strategy = strategy.name,
                        .verdict = name(report.verdict),
                        .graph = &graph,
                        .planned = &planned};
  if (!is_safe) return write_doubtful(options, made, report);
  print(options, options.json ? plan_json(made) : plan_text(made));
  return ExitCode::kSafe;
}

/// The pools named on the command line; an error message for a name that the graph has not.
std::string find_pools(const Plan& graph, const PlanOptions& options, std::vector<PoolId>& pools) {
  for (const std::string& name : options.pools) {
    PoolId found = kNone<PoolId>;
    Suggester suggester(name);
    for (const PoolId pool : ids(graph.pools)) {
      suggester.consider(graph.pools[pool].name);
      if (graph.pools[pool].name == name) found = pool;
    }
    if (found == kNone<PoolId>) return "no pool " + memverify::quoted(name) + suggester.hint();
    pools.push_back(found);
  }
  return {};
}

ExitCode plan_file(const PlanOptions& options, const Strategy& strategy) {
  Loaded loaded = load_plan(options.file, cannot_be_planned, options.import);
  if (!loaded.plan) {
    write_error(text_errors(loaded.errors, Style::of(options.color, stderr)));
    return ExitCode::kBadInput;
  }
  write_error(assumptions_text(options.import, loaded.assumptions));
  const Plan& graph = *loaded.plan;
  if (unplaced_roots(graph).empty()) return recheck(options, graph);
  PlanGraphOptions how{.place = strategy.place,
                       .wrong_clashes = strategy.wrong_clashes,
                       .slots = options.slots,
                       .capacity = options.capacity};
  how.strategy = options.search;
  if (const std::string wrong = find_pools(graph, options, how.pools); !wrong.empty()) {
    return usage_error("plan", wrong);
  }
  const Result<ApartPlan> apart = place_apart(graph, options.slots);
  if (!apart.ok()) {
    write_error(text_errors(with_excerpts(apart.errors(), "", options.file),
                            Style::of(options.color, stderr)));
    return ExitCode::kBadInput;
  }
  const Report alone = decided(options, apart.value().plan);
  if (alone.verdict != Verdict::kSafe) return refuse_graph(options, alone);
  const GraphClashes clashes = find_graph_clashes(apart.value());
  const PlannedGraph planned = plan_graph(graph, apart.value(), clashes, how);
  if (!planned.fits()) {
    const PlanReport made{.strategy = strategy.name, .graph = &graph, .planned = &planned};
    write_error(too_small_text(made, Style::of(options.color, stderr)) +
                "memverify plan: nothing was written\n");
    return ExitCode::kUnsafe;
  }
  return write_planned(options, graph, planned, strategy);
}

/// A table has one pool, one queue and no iterations.
ExitCode plan_table(const CLI::App& app, const PlanOptions& options) {
  for (const char* option : {"--pool", "--slots", "--format"}) {
    if (app.count(option) == 0) continue;
    return usage_error("plan", std::string(option) + " is for graphs, not for tables");
  }
  if (!find_strategy(options.strategy)->is_safe()) {
    return usage_error("plan", "the strategy " + memverify::quoted(options.strategy) +
                                   " is for graphs, not for tables");
  }
  PlanCsvOptions table{
      .strategy = options.strategy, .capacity = options.capacity, .output = options.output};
  table.search = options.search;
  return plan_csv(options.file, table);
}

/// A line for each, for --help.
std::string strategy_list(std::span<const Strategy> table) {
  std::string lines;
  for (const Strategy& strategy : table) {
    std::string name(strategy.name);
    name.resize(22, ' ');
    lines += "  " + name + std::string(strategy.help) + "\n";
  }
  return lines;
}

}  // namespace

ExitCode plan_command(const Arguments& arguments) {
  PlanOptions options;
  std::vector<std::string> names;
  for (const Strategy& strategy : strategies()) names.emplace_back(strategy.name);
  for (const Strategy& strategy : unsafe_strategies()) names.emplace_back(strategy.name);
  options.strategy = find_strategy("auto") != nullptr ? "auto" : "by-size";
  CLI::App app("Places the tensors of a graph that have no storage.", "memverify plan");
  app.add_option("FILE", options.file,
                 "Graph file, or one that memverify import reads, - is standard input; or a table, "
                 "FILE.csv")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options.output, "Where the plan goes; - is standard output")
      ->required()
      ->type_name("FILE");
  app.add_option("--strategy", options.strategy, "How to place; see below")
      ->check(one_of(names))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--pool", options.pools,
                 "Pools to try, in this order, for tensors that name none (default: all)")
      ->type_name("NAME")
      ->delimiter(',');
  app.add_option("--capacity", options.capacity, "Bytes of each pool, instead of its own")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  app.add_option("--slots", options.slots, "Slots for tensors that ask for more than one")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--seconds", options.search.max_seconds, "Time for a strategy that searches")
      ->check(CLI::NonNegativeNumber)
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--blocks", options.blocks,
                 "Bytes of the blocks of size-classes (65536,1048576,8388608)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40, "POSITIVE"))
      ->type_name("N")
      ->delimiter(',');
  app.add_flag("--allow-unsafe", options.allow_unsafe,
               "Write the plan of a strategy that ignores happens-before, whatever its verdict");
  add_from_option(app, options.import);
  add_import_options(app, options.import);
  add_format_option(app, options.json);
  add_color_option(app, options.color);
  app.footer(
      "Strategies:\n" + strategy_list(strategies()) + "Unsafe ones, to try checkers on:\n" +
      strategy_list(unsafe_strategies()) +
      "\nTwo tensors share bytes only where happens-before orders every access of one before "
      "\nthe other. The plan is verified before it is written.\n"
      "A table has columns id, lower, upper (a half-open live range), size; the same rows come "
      "out\n"
      "with their offset.\n"
      "Exit code: 0 written, 1 a pool is too small or the plan of an unsafe strategy is unsafe,\n"
      "2 bad input or usage, 3 not proven.\n"
      "\nExample:\n  memverify plan graph.json -o plan.json");
  if (const auto code = parse(app, arguments)) return *code;
  std::ranges::sort(options.blocks);
  options.search.block_bytes = options.blocks;
  if (!find_strategy(options.strategy)->is_safe() && !options.allow_unsafe) {
    return usage_error("plan", "the strategy " + memverify::quoted(options.strategy) +
                                   " makes unsafe plans; --allow-unsafe writes them");
  }
  if (options.file.ends_with(".csv")) return plan_table(app, options);
  return plan_file(options, *find_strategy(options.strategy));
}

}  // namespace memverify
