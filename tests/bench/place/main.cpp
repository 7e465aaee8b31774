// tests/bench/place/main.cpp -- strategy × file: peak, bound and nodes.
//
//   place_bench [--capacity N] [--seconds S] [--nodes N] [--seed N] [--without SWITCHES]
//               [--peer COMMAND] STRATEGY[,STRATEGY…] FILE.csv…
// A peer is run on the same files in turn with ours; tests/bench/place/peer.h says how. MiniMalloc:
//   --peer 'minimalloc --capacity={capacity} --input={in} --output={out} 2>/dev/null'
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

#include "plan/input_file.h"
#include "planner/csv.h"
#include "planner/optimal.h"
#include "planner/strategy.h"
#include "tests/bench/place/peer.h"

namespace memverify {
namespace {

OffsetSearchSwitches switches_without(const std::string& names) {
  const auto keeps = [&](const char* name) { return names.find(name) == std::string::npos; };
  return {.ascending = keeps("ascending"),
          .left = keeps("left"),
          .dominance = keeps("dominance"),
          .hats = keeps("hats"),
          .parts = keeps("parts")};
}

struct Options {
  StrategyOptions search;
  std::optional<std::int64_t> capacity;
  std::string without;
  std::string peer;
};

/// Over all files.
struct Total {
  std::string name;
  double seconds = 0;
  int placed = 0;  ///< Within the capacity, if there is one.
};

void print_row(const std::string& file, const Problem& problem, const PlacementRun& run,
               Total& total) {
  const Placement& placement = run.placement;
  const double gap = static_cast<double>(placement.peak - problem.lower_bound) /
                     static_cast<double>(problem.lower_bound) * 100;
  std::printf("%-28s %-14s ", file.substr(file.rfind('/') + 1).c_str(), total.name.c_str());
  if (run.fault.empty()) {
    std::printf("%12lld %12lld %7.2f %% %-8s %10llu %8.2f s\n",
                static_cast<long long>(placement.peak), static_cast<long long>(problem.lower_bound),
                gap, placement.is_optimal ? "optimal" : "",
                static_cast<unsigned long long>(placement.nodes), run.seconds);
    if (placement.peak <= problem.capacity.value_or(placement.peak)) ++total.placed;
  } else {
    std::printf("%s after %.2f s\n", run.fault.c_str(), run.seconds);
  }
  std::fflush(stdout);
  total.seconds += run.seconds;
}

PlacementRun run_strategy(const Strategy& strategy, const CsvProblem& csv, const Options& options) {
  const std::clock_t begin = std::clock();
  PlacementRun run;
  run.placement =
      strategy.name == "optimal" && !options.without.empty()
          ? optimal_placement(csv.problem, options.search, switches_without(options.without))
          : strategy.place(csv.problem, options.search);
  run.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  run.fault = fault_of(csv.problem, run.placement);
  return run;
}

int run(const std::vector<std::string>& arguments) {
  Options options;
  std::size_t i = 0;
  for (; i + 1 < arguments.size() && arguments[i].starts_with("--"); i += 2) {
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--capacity") options.capacity = std::atoll(value.c_str());
    if (arguments[i] == "--without") options.without = value;
    if (arguments[i] == "--peer") options.peer = value;
    if (arguments[i] == "--seconds") options.search.max_seconds = std::atof(value.c_str());
    if (arguments[i] == "--nodes") {
      options.search.max_nodes = std::strtoull(value.c_str(), nullptr, 10);
    }
    if (arguments[i] == "--seed") options.search.seed = std::strtoull(value.c_str(), nullptr, 10);
  }
  if (i + 1 >= arguments.size()) {
    std::fprintf(
        stderr,
        "usage: place_bench [--capacity N] [--seconds S] [--nodes N] [--seed N] [--without "
        "SWITCHES] [--peer COMMAND] STRATEGIES|all FILE.csv...\n");
    return 2;
  }
  std::vector<const Strategy*> chosen;
  std::vector<Total> totals;
  std::stringstream names(arguments[i]);
  for (std::string name; std::getline(names, name, ',');) {
    for (const Strategy& strategy : strategies()) {
      if (name != "all" && name != strategy.name) continue;
      chosen.push_back(&strategy);
      totals.push_back({.name = std::string(strategy.name)});
    }
  }
  if (!options.peer.empty()) totals.push_back({.name = "peer"});
  for (++i; i < arguments.size(); ++i) {
    const Result<InputFile> file = InputFile::open(arguments[i]);
    if (!file.ok()) return 2;
    Result<CsvProblem> csv = read_csv(file.value().text(), arguments[i]);
    if (!csv.ok()) {
      std::fprintf(stderr, "%s\n", to_string(csv.errors().front()).c_str());
      return 2;
    }
    csv.value().problem.capacity = options.capacity;
    csv.value().problem.capacity_is_enough = true;
    for (std::size_t k = 0; k < totals.size(); ++k) {
      const PlacementRun done = k < chosen.size()
                                    ? run_strategy(*chosen[k], csv.value(), options)
                                    : run_peer(options.peer, arguments[i], csv.value());
      print_row(arguments[i], csv.value().problem, done, totals[k]);
    }
  }
  for (const Total& total : totals) {
    std::printf("%-28s %-14s %d placed, %.2f s\n", "all", total.name.c_str(), total.placed,
                total.seconds);
  }
  return 0;
}

}  // namespace
}  // namespace memverify

int main(int argc, char** argv) {
  return memverify::run(std::vector<std::string>(argv + 1, argv + argc));
}
