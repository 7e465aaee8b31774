// `memverify plan`: a graph in, a plan out that is verified before it is written.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "plan/words.h"
#include "planner/strategy.h"
#include "tools/command.h"
#include "tools/parse.h"
#include "tools/plan_csv.h"
#include "tools/plan_file.h"
#include "tools/plan_options.h"

namespace memverify {
namespace {

/// A table has one pool, one queue and no iterations.
ExitCode plan_table(const CLI::App& app, const PlanOptions& options) {
  for (const char* option : {"--pool", "--slots", "--branches", "--degrade", "--available-bytes",
                             "--buckets", "--lookup", "--values", "--format"}) {
    if (app.count(option) == 0) continue;
    return usage_error("plan", std::string(option) + " is for graphs, not for tables");
  }
  if (!options.strategy->is_safe()) {
    return usage_error("plan", "the strategy " + memverify::quoted(options.strategy->name) +
                                   " is for graphs, not for tables");
  }
  PlanCsvOptions table{.strategy = std::string(options.strategy->name),
                       .capacity = options.capacity,
                       .output = options.output};
  table.search.max_seconds = options.seconds;
  table.search.block_bytes = options.blocks;
  return plan_csv(options.file, table);
}

void add_placing_options(CLI::App& app, PlanOptions& options, std::string& strategy) {
  std::vector<std::string> names;
  for (const Strategy& known : strategies()) names.emplace_back(known.name);
  for (const Strategy& known : unsafe_strategies()) names.emplace_back(known.name);
  app.add_option("--strategy", strategy, "How to place; see below")
      ->check(one_of(names))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--pool", options.pools,
                 "Pools to try, in this order, for tensors that name none (default: all)")
      ->type_name("NAME")
      ->delimiter(',');
  app.add_option("--capacity", options.capacity,
                 "Bytes of each pool that is placed in, if less than its own; of a table, a search "
                 "ends with the first placement that fits")
      ->check(whole_from(0))
      ->type_name("N");
  app.add_option("--available-bytes", options.available,
                 "Exit with 1 if the peak is above; of one pool, or several times POOL=N. Also for "
                 "a plan that is placed")
      ->type_name("[POOL=]N")
      ->allow_extra_args(false);
  app.add_option("--slots", options.slots, "Slots for tensors that ask for more than one")
      ->check(whole_from(1))
      ->type_name("N");
  app.add_option("--branches", options.branches,
                 "Of a graph with conditions: one place for all paths, or one for each path, with "
                 "copies where paths merge; says what both cost (default: union)")
      ->check(one_of({"union", "per-path"}))
      ->type_name("union|per-path");
  app.add_flag("--degrade", options.degrade,
               "Where a pool is too small, take the most slots that fit, and leave out the buckets "
               "that do not")
      ->excludes("--branches");
  app.add_flag("--allow-unsafe", options.allow_unsafe,
               "Write the plan of a strategy that ignores happens-before, whatever its verdict")
      ->excludes("--branches");
  app.add_option("--seconds", options.seconds,
                 "Time for strategies that search, advice and comparisons, all together")
      ->check(seconds_from(0))
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--blocks", options.blocks,
                 "Bytes of the blocks of size-classes (65536,1048576,8388608)")
      ->check(whole_from(1, std::int64_t{1} << 40))
      ->type_name("N")
      ->delimiter(',');
}

void add_bucket_options(CLI::App& app, PlanOptions& options) {
  CLI::Option* buckets =
      app.add_option("--buckets", options.buckets,
                     "Write a plan cache instead: a plan for all values of a symbol up to each of "
                     "these, and up to its max; of several symbols, for every combination")
          ->type_name("SYMBOL=N,N...")
          ->excludes("--branches")
          ->excludes("--allow-unsafe")
          ->allow_extra_args(false);
  CLI::Option* lookup =
      app.add_option("--lookup", options.lookup,
                     "Plan nothing: write (or print) the smallest plan of this plan cache that "
                     "covers --values")
          ->type_name("CACHE")
          ->excludes(buckets);
  for (const char* how : {"--strategy", "--pool", "--capacity", "--slots", "--branches",
                          "--degrade", "--seconds", "--blocks", "--allow-unsafe"}) {
    lookup->excludes(how);
  }
  app.add_option("--values", options.values, "Values of symbols to look up")
      ->type_name("SYMBOL=N")
      ->allow_extra_args(false)
      ->needs(lookup);
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

std::string footer() {
  return "Strategies:\n" + strategy_list(strategies()) + "Unsafe ones, to try checkers on:\n" +
         strategy_list(unsafe_strategies()) +
         "\nTwo tensors share bytes only where happens-before orders every access of one before "
         "\nthe other. The plan is verified before it is written.\n"
         "Where a pool is too small, nothing is written; what would fit is planned and named.\n"
         "A table has columns id, lower, upper (a half-open live range), size; the same rows come "
         "out\n"
         "with their offset.\n"
         "Exit code: 0 written, 1 a pool is too small or the plan of an unsafe strategy is "
         "unsafe,\n"
         "2 bad input or usage, 3 not proven.\n"
         "\nExamples:\n"
         "  memverify plan graph.json -o plan.json\n"
         "  memverify plan plan.json --available-bytes 8000000    is there room to run it?\n"
         "  memverify plan graph.json --buckets seq=128,256 -o plans.json\n"
         "  memverify plan graph.json --lookup plans.json --values seq=200 -o plan.json";
}

}  // namespace

ExitCode plan_command(const Arguments& arguments) {
  PlanOptions options;
  std::string strategy = "auto";
  CLI::App app("Places the tensors of a graph that have no storage.", "memverify plan");
  app.add_option("FILE", options.file,
                 "Graph file, or one that memverify import reads, - is standard input; or a table, "
                 "FILE.csv")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options.output, "Where the plan goes; - is standard output")
      ->type_name("FILE");
  add_placing_options(app, options, strategy);
  add_bucket_options(app, options);
  add_from_option(app, options.import);
  add_import_options(app, options.import);
  add_format_option(app, options.json);
  add_color_option(app, options.color);
  app.footer(footer());
  if (const auto code = parse(app, arguments)) return *code;
  if (app.count("--output") > 0 && options.output.empty()) {
    return usage_error("plan", "-o needs the name of a file");
  }
  std::ranges::sort(options.blocks);
  options.strategy = find_strategy(strategy);
  if (!options.strategy->is_safe() && !options.allow_unsafe) {
    return usage_error("plan", "the strategy " + memverify::quoted(strategy) +
                                   " makes unsafe plans; --allow-unsafe writes them");
  }
  const bool writes = options.available.empty() || !options.buckets.empty();
  if (options.output.empty() && options.lookup.empty() && writes) {
    return usage_error("plan", "-o FILE is required: where the plan goes");
  }
  if (options.file.ends_with(".csv")) return plan_table(app, options);
  return plan_file(std::move(options));
}

}  // namespace memverify
