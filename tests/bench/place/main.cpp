// tests/bench/place/main.cpp -- strategy × file: peak, bound and nodes.
//
//   place [--capacity N] [--seconds S] [--nodes N] [--without SWITCHES] STRATEGY[,STRATEGY…]
//   FILE.csv…
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

void print_row(const std::string& file, const CsvProblem& csv, const Strategy& strategy,
               const StrategyOptions& options, const std::string& without) {
  const std::clock_t begin = std::clock();
  const Placement placement =
      strategy.name == "optimal" && !without.empty()
          ? optimal_placement(csv.problem, options, switches_without(without))
          : strategy.place(csv.problem, options);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const std::string fault = fault_of(csv.problem, placement);
  const double gap = static_cast<double>(placement.peak - csv.problem.lower_bound) /
                     static_cast<double>(csv.problem.lower_bound) * 100;
  std::printf("%-28s %-14s %12lld %12lld %7.2f %% %-8s %10llu %8.2f s  %s\n",
              file.substr(file.rfind('/') + 1).c_str(), std::string(strategy.name).c_str(),
              static_cast<long long>(placement.peak),
              static_cast<long long>(csv.problem.lower_bound), gap,
              placement.is_optimal ? "optimal" : "",
              static_cast<unsigned long long>(placement.nodes), seconds, fault.c_str());
  std::fflush(stdout);
}

int run(const std::vector<std::string>& arguments) {
  StrategyOptions options;
  std::optional<std::int64_t> capacity;
  std::vector<const Strategy*> chosen;
  std::string without;
  std::size_t i = 0;
  for (; i + 1 < arguments.size() && arguments[i].starts_with("--"); i += 2) {
    if (arguments[i] == "--capacity") capacity = std::atoll(arguments[i + 1].c_str());
    if (arguments[i] == "--without") without = arguments[i + 1];
    if (arguments[i] == "--seconds") options.max_seconds = std::atof(arguments[i + 1].c_str());
    if (arguments[i] == "--nodes")
      options.max_nodes = std::strtoull(arguments[i + 1].c_str(), nullptr, 10);
    if (arguments[i] == "--seed")
      options.seed = std::strtoull(arguments[i + 1].c_str(), nullptr, 10);
  }
  if (i + 1 >= arguments.size()) {
    std::fprintf(stderr, "usage: place [--capacity N] [--seconds S] STRATEGIES|all FILE.csv...\n");
    return 2;
  }
  std::stringstream names(arguments[i]);
  for (std::string name; std::getline(names, name, ',');) {
    for (const Strategy& strategy : strategies()) {
      if (name == "all" || name == strategy.name) chosen.push_back(&strategy);
    }
  }
  for (++i; i < arguments.size(); ++i) {
    const Result<InputFile> file = InputFile::open(arguments[i]);
    if (!file.ok()) return 2;
    Result<CsvProblem> csv = read_csv(file.value().text(), arguments[i]);
    if (!csv.ok()) {
      std::fprintf(stderr, "%s\n", to_string(csv.errors().front()).c_str());
      return 2;
    }
    csv.value().problem.capacity = capacity;
    for (const Strategy* strategy : chosen) {
      print_row(arguments[i], csv.value(), *strategy, options, without);
    }
  }
  return 0;
}

}  // namespace
}  // namespace memverify

int main(int argc, char** argv) {
  return memverify::run(std::vector<std::string>(argv + 1, argv + argc));
}
