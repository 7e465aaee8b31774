#include "tools/simulate_options.h"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "plan/words.h"
#include "tools/given_values.h"
#include "tools/parse.h"

namespace memverify {
namespace {

constexpr double kMega = 1e6;

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "2" or "0..3".
std::optional<std::pair<std::int64_t, std::int64_t>> parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  const auto low = parse_number(text.substr(0, dots));
  const auto high = dots == text.npos ? low : parse_number(text.substr(dots + 2));
  constexpr std::int64_t kMost = 1'000'000'000;
  if (!low || !high || *low < 0 || *low > *high || *high > kMost) return std::nullopt;
  return std::pair(*low, *high);
}

std::string shard_problem(std::string_view text) {
  SimShard shard;
  const std::string problem = parse_shard(text, shard.number, shard.of);
  if (!problem.empty() || shard.of <= SimShard::kMostParts) return problem;
  return "there are at most " + std::to_string(SimShard::kMostParts) + " parts";
}

void add_search_options(CLI::App& app, SimulateArguments& arguments) {
  SimOptions& options = arguments.options;
  app.add_option_function<std::string>(
         "--reduction",
         [&](const std::string& text) {
           options.reduction = text == "none"    ? Reduction::kNone
                               : text == "sleep" ? Reduction::kSleep
                                                 : Reduction::kClasses;
         },
         "What to leave out: none (every state is visited), sleep (what only reorders independent "
         "steps), classes (all but one of the runs that differ only so)")
      ->check(one_of({"none", "sleep", "classes"}))
      ->type_name("none|sleep|classes")
      ->default_str("none")
      ->take_last();
  app.add_option("--threads", options.threads, "Cores to use; 0 is all. The result is the same")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1024}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--symbol", arguments.symbols, "Look at this value of a symbol only")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--when", arguments.when, "Look at this value of a condition only")
      ->type_name("NAME=true|false")
      ->allow_extra_args(false);
  add_max_findings_option(app, options.max_findings);
  app.add_option("--budget-states", options.max_states, "End as not proven after this many states")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--budget-seconds", options.max_seconds,
                 "End as not proven after this time; 0 is no limit")
      ->check(seconds_from(0))
      ->type_name("S")
      ->capture_default_str();
  app.add_option_function<double>(
         "--budget-memory",
         [&](double megabytes) {
           options.max_bytes = static_cast<std::uint64_t>(megabytes * kMega);
         },
         "End as not proven when states take more than this many megabytes")
      ->check(seconds_from(0.001))
      ->type_name("MB")
      ->default_str(std::to_string(options.max_bytes / static_cast<std::uint64_t>(kMega)));
}

/// What does something else than to search. No two of these go together.
void add_modes(CLI::App& app, SimulateArguments& arguments) {
  CLI::Option* replay =
      app.add_option("--replay", arguments.replay,
                     "Do not search: execute the run in this file and look whether it shows its "
                     "finding")
          ->type_name("FILE");
  CLI::Option* random =
      app.add_option("--random", arguments.options.random_runs,
                     "Do not search: execute this many random runs (they prove nothing)")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
          ->type_name("N");
  CLI::Option* timed =
      app.add_flag("--timed", arguments.timed,
                   "Run in time instead: every combination of the plan's queue delays and op "
                   "durations");
  CLI::Option* delays =
      app.add_option_function<std::string>(
             "--delays",
             [&](const std::string& text) {
               arguments.timed = true;
               arguments.timed_options.delays = parse_range(text);
             },
             "Give each queue every delay of this range, in ticks (implies --timed)")
          ->check(CLI::Validator(
              [](std::string& text) {
                return parse_range(text)
                           ? ""
                           : memverify::quoted(text) + " is no range of ticks such as 0..3";
              },
              ""))
          ->type_name("LO..HI");
  app.add_option("--timed-runs", arguments.timed_options.max_runs,
                 "Draw that many timed runs when there are more combinations")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", arguments.options.seed, "Of everything that is drawn")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 62))
      ->type_name("S")
      ->capture_default_str();
  CLI::Option* witness =
      app.add_option("--witness", arguments.witness,
                     "Write the first finding with its run to this file (- is standard output)")
          ->type_name("FILE");
  CLI::Option* all =
      app.add_flag("--all", arguments.all, "Show the run of every finding, not of the first only");
  CLI::Option* shard =
      app.add_option_function<std::string>(
             "--shard",
             [&](const std::string& text) {
               parse_shard(text, arguments.shard.number, arguments.shard.of);
             },
             "Search the K-th of N parts alone; --save it, for --join")
          ->check(CLI::Validator([](std::string& text) { return shard_problem(text); }, ""))
          ->type_name("K/N");
  CLI::Option* save = app.add_option("--save", arguments.save, "Where to write what the part saw")
                          ->type_name("FILE")
                          ->needs(shard);
  shard->needs(save);
  CLI::Option* join =
      app.add_option("--join", arguments.join,
                     "Do not search: join the parts in these files, all of one search with the "
                     "same options")
          ->type_name("FILE");
  for (CLI::Option* other : {random, timed, delays, witness, all}) replay->excludes(other);
  for (CLI::Option* part : {shard, join}) {
    for (CLI::Option* other : {replay, random, timed, delays}) part->excludes(other);
  }
  join->excludes(shard);
  for (CLI::Option* other : {timed, delays}) random->excludes(other);
  for (CLI::Option* other : {timed, delays}) {
    witness->excludes(other);
    all->excludes(other);
  }
}

void add_options(CLI::App& app, SimulateArguments& arguments) {
  app.add_option("FILE", arguments.file, "A plan file; - is standard input")
      ->required()
      ->type_name("");
  add_search_options(app, arguments);
  add_modes(app, arguments);
  add_format_option(app, arguments.json);
  add_color_option(app, arguments.color);
  app.add_flag("--quiet,-q", arguments.quiet, "Only the last line");
  app.footer(
      "Exit code: 0 safe, 1 unsafe, 2 bad input or usage, 3 not proven, 4 internal error.\n"
      "With --replay: 1 the run shows its finding, 3 it does not.\n"
      "\n"
      "Examples:\n"
      "  memverify simulate plan.json                       every interleaving, and how many fail\n"
      "  memverify simulate plan.json --reduction classes   large plans\n"
      "  memverify simulate plan.json --witness run.json\n"
      "  memverify simulate plan.json --replay run.json\n"
      "  memverify simulate plan.json --shard 1/4 --save 1.part\n"
      "  memverify simulate plan.json --join 1.part 2.part 3.part 4.part\n"
      "  memverify simulate plan.json --delays 0..3         what late queues do");
}

}  // namespace

std::optional<ExitCode> parse_simulate(const Arguments& given, SimulateArguments& arguments) {
  CLI::App app("Executes every order of instants that a plan allows.", "memverify simulate");
  add_options(app, arguments);
  if (const auto code = parse(app, given)) return *code;
  SimOptions& options = arguments.options;
  const bool is_split = !arguments.save.empty() || !arguments.join.empty();
  if (is_split && options.reduction == Reduction::kClasses) {
    return usage_error("simulate", "--reduction classes has nothing to share out: one run is all");
  }
  options.count = options.reduction == Reduction::kNone && options.random_runs == 0 && !is_split;
  arguments.timed_options.seed = options.seed;
  arguments.timed_options.max_seconds = options.max_seconds;
  if (arguments.file == "-" && arguments.replay == "-") {
    return usage_error("simulate", "standard input (-) can be read only once");
  }
  return std::nullopt;
}

std::string settle(const Plan& plan, SimulateArguments& arguments) {
  std::string problem = read_symbols(plan, arguments.symbols, arguments.options.symbols);
  if (!problem.empty()) return problem;
  return read_conditions(plan, arguments.when, arguments.options.when);
}

}  // namespace memverify
