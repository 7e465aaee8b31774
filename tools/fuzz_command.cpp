// `memverify fuzz`: plans that a planner gets wrong, made small and kept.
#include <string>
#include <vector>

#include "plan/words.h"
#include "planner/strategy.h"
#include "tools/command.h"
#include "tools/fuzz_families.h"
#include "tools/fuzz_run.h"
#include "tools/parse.h"

namespace memverify {
namespace {

std::string fuzz_footer() {
  std::string families;
  for (const GraphFamily& family : graph_families()) {
    std::string name(family.name);
    name.resize(14, ' ');
    families += "  " + name + std::string(family.help) + "\n";
  }
  return "memverify fuzz report DB [--save DIR] [--format json]   what a campaign has found\n"
         "memverify fuzz merge DB... -o DB                        one campaign of its shards\n"
         "\n"
         "Each case is a graph that is safe with its tensors apart, a plan that the planner makes\n"
         "of it, and the verdict on that. Cases come in blocks of 100, the unit of shards and of\n"
         "what a file keeps when it is interrupted. A finding is made small: the graph, then the "
         "plan,\nuntil nothing can be removed.\n"
         "A planner of one's own gets a graph and answers with a plan, both JSON, or with\n"
         "{\"refused\": \"why\"}. It may add syncs; all else must stay.\n"
         "\nGraphs are made of:\n" +
         families +
         "\nExit code: 0 no finding, 1 findings, 2 bad input or usage, 3 cases that no engine "
         "decides,\n4 engines that disagree.\n"
         "\nExamples:\n"
         "  memverify fuzz --strategy by-size --cases 10000\n"
         "  memverify fuzz --strategy unsafe-direct-users --allow-unsafe --cases 100 --save found\n"
         "  memverify fuzz --planner './planner {in} {out}' --cases 500 --db campaign.db\n"
         "  memverify fuzz --mutate plans --cases 200       do the engines find what was broken?";
}

ExitCode fuzz_report(const Arguments& arguments) {
  std::string db;
  std::string save;
  bool json = false;
  CLI::App app("Prints what a campaign has found.", "memverify fuzz report");
  app.add_option("DB", db, "The campaign's file")->required()->type_name("");
  app.add_option("--save", save, "Write the minimal cases into this folder")->type_name("DIR");
  add_format_option(app, json);
  if (const auto code = parse(app, arguments)) return *code;
  return report_campaign(db, save, json);
}

ExitCode fuzz_merge(const Arguments& arguments) {
  std::vector<std::string> inputs;
  std::string output;
  CLI::App app("Joins the shards of one campaign, if they are all there.", "memverify fuzz merge");
  app.add_option("DB", inputs, "The shards' files")->required()->type_name("");
  app.add_option("-o,--output", output, "A new file")->required()->type_name("DB");
  if (const auto code = parse(app, arguments)) return *code;
  return merge_campaigns(inputs, output);
}

void add_planner_options(CLI::App& app, FuzzOptions& options, bool& allow_unsafe) {
  std::vector<std::string> names;
  for (const Strategy& known : strategies()) names.emplace_back(known.name);
  for (const Strategy& known : unsafe_strategies()) names.emplace_back(known.name);
  CLI::Option* strategy =
      app.add_option("--strategy", options.strategy,
                     "A planner of memverify, as in memverify plan (default: by-size)")
          ->check(one_of(names))
          ->type_name("NAME");
  app.add_flag("--allow-unsafe", allow_unsafe, "Take one of the unsafe-... strategies");
  CLI::Option* planner =
      app.add_option("--planner", options.process.command,
                     "A shell command: {in} is the graph's file (else it is standard input), {out} "
                     "the plan's (else standard output)")
          ->type_name("CMD")
          ->excludes(strategy);
  app.add_flag("--persistent", options.process.persistent,
               "The command runs once, and gets and answers a line for each graph")
      ->needs(planner);
  app.add_option("--timeout", options.process.timeout, "Seconds that the command has for a graph")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->capture_default_str()
      ->needs(planner);
  app.add_option("--planner-version", options.planner_version,
                 "Kept with the campaign; shards must agree")
      ->type_name("TEXT");
}

void add_campaign_options(CLI::App& app, FuzzOptions& options, std::string& shard) {
  app.add_option("--cases", options.cases, "How many")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50, "POSITIVE"))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Another seed, other cases")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--corpus", options.corpus,
                 "Take every other graph from these plans and models, with up to two edits")
      ->type_name("DIR|FILE");
  app.add_option("--mutate", options.mutate,
                 "Break one thing in each safe plan, and have all engines look for it")
      ->check(one_of({"plans"}))
      ->type_name("plans");
  app.add_option("--engine", options.engine, "Who decides the plans: auto, all, hb, smt, sim")
      ->check(one_of({"auto", "all", "hb", "smt", "sim"}))
      ->type_name("NAME")
      ->capture_default_str();
  CLI::Option* db = app.add_option("--db", options.db,
                                   "Keep the campaign in this file, or go on with the one that it "
                                   "has")
                        ->type_name("FILE");
  app.add_option("--shard", shard, "Run only every N-th block, from the K-th on")->type_name("K/N");
  app.add_option("--max-findings", options.max_findings, "End with the case that reaches this")
      ->check(whole_from(1, 1'000'000'000))
      ->type_name("N")
      ->excludes(db);
  app.add_flag_function(
      "--no-shrink", [&options](std::int64_t) { options.shrinks = false; },
      "Leave cases as large as they are");
  app.add_option("--save", options.save, "Write the minimal cases into this folder")
      ->type_name("DIR");
  app.add_flag("--coverage", options.coverage, "Print the table of combinations");
}

}  // namespace

ExitCode fuzz_command(const Arguments& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (first == "report") return fuzz_report(rest);
  if (first == "merge") return fuzz_merge(rest);
  FuzzOptions options;
  bool allow_unsafe = false;
  std::string shard;
  CLI::App app("Looks for graphs that a planner gets wrong.", "memverify fuzz");
  add_planner_options(app, options, allow_unsafe);
  add_campaign_options(app, options, shard);
  add_format_option(app, options.json);
  app.footer(fuzz_footer());
  if (const auto code = parse(app, arguments)) return *code;
  if (options.strategy.empty()) options.strategy = "by-size";
  if (!find_strategy(options.strategy)->is_safe() && !allow_unsafe) {
    return usage_error("fuzz", "the strategy " + memverify::quoted(options.strategy) +
                                   " makes unsafe plans; --allow-unsafe takes it");
  }
  if (!shard.empty()) {
    if (const std::string wrong = parse_shard(shard, options.shard.k, options.shard.n);
        !wrong.empty()) {
      return usage_error("fuzz", wrong);
    }
  }
  return run_fuzz(options);
}

}  // namespace memverify
