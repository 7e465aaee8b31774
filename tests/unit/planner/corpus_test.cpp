#include <gtest/gtest.h>

#include "plan/input_file.h"
#include "planner/csv.h"
#include "planner/optimal.h"
#include "tests/support/placement_fault.h"
#include "tests/support/random_problem.h"

namespace memverify {
namespace {

Problem problem_of(const std::string& name) {
  const std::string path = std::string(MEMVERIFY_CORPUS) + "/problems/" + name;
  const Result<InputFile> file = InputFile::open(path);
  EXPECT_TRUE(file.ok()) << path;
  Result<CsvProblem> csv = read_csv(file.value().text(), path);
  EXPECT_TRUE(csv.ok()) << path;
  return std::move(csv).value().problem;
}

/// Stops by nodes, never by time.
Placement fit(const Problem& problem, std::uint64_t max_nodes, OffsetSearchSwitches switches = {}) {
  return optimal_placement(problem, {.max_seconds = 1e6, .max_nodes = max_nodes}, switches);
}

TEST(HardProblems, FitTheirCapacityWithinTheseNodes) {
  const std::pair<const char*, std::uint64_t> cases[] = {{"J.1048576.csv", 5000},
                                                         {"K.1048576.csv", 110000}};
  for (const auto& [name, nodes] : cases) {
    Problem problem = problem_of(name);
    problem.capacity = 1048576;
    problem.capacity_is_enough = true;
    const Placement placement = fit(problem, nodes);
    EXPECT_EQ(fault_of(problem, placement), "") << name;
    EXPECT_LE(placement.peak, 1048576) << name;
  }
}

/// Lists are 24 to 38 % above the bound here.
TEST(HardProblems, ClimbingComesCloseWithinTheseMoves) {
  const std::pair<const char*, std::int64_t> cases[] = {{"J.1048576.csv", 1048576},
                                                        {"F.1048576.csv", 1100000}};
  for (const auto& [name, most] : cases) {
    Problem problem = problem_of(name);
    problem.capacity = most;
    problem.capacity_is_enough = true;
    const Placement placement =
        find_strategy("hill-climb")->place(problem, {.max_seconds = 1e6, .max_nodes = 25000});
    EXPECT_EQ(testing::placement_fault(problem, placement), "") << name;
    EXPECT_LE(placement.peak, most) << name;
  }
}

TEST(HardProblems, TheExampleIsSolvedAtItsBound) {
  const Problem problem = problem_of("input.12.csv");
  EXPECT_EQ(problem.lower_bound, 12);
  const Placement placement = fit(problem, 1000);
  EXPECT_EQ(placement.peak, 12);
  EXPECT_TRUE(placement.is_optimal);
}

/// What all switches together find within these nodes (above), they do not find without this one.
TEST(HardProblems, SwitchesEarnTheirKeep) {
  struct Case {
    const char* name;
    std::uint64_t nodes;
    OffsetSearchSwitches without;
  };
  const Case cases[] = {{"J.1048576.csv", 5000, {.ascending = false}},
                        {"J.1048576.csv", 5000, {.left = false}},
                        {"K.1048576.csv", 110000, {.dominance = false}},
                        {"K.1048576.csv", 110000, {.parts = false}}};
  for (const Case& hard : cases) {
    Problem problem = problem_of(hard.name);
    problem.capacity = 1048576;
    problem.capacity_is_enough = true;
    const Placement without = fit(problem, hard.nodes, hard.without);
    EXPECT_EQ(fault_of(problem, without), "");
    EXPECT_GT(without.peak, 1048576) << &hard - cases;
  }
}

/// Where live ranges decide, `parts` does what `hats` would; in other graphs only `hats` can.
TEST(HardProblems, HatsEarnTheirKeepInGraphs) {
  const Problem graph = testing::RandomProblem(45).make(testing::ProblemKind::kGraph, 12);
  const Placement with = fit(graph, 0);
  const Placement without = fit(graph, 0, {.hats = false});
  EXPECT_TRUE(with.is_optimal && without.is_optimal);
  EXPECT_EQ(with.peak, without.peak);
  EXPECT_LT(with.nodes * 3 / 2, without.nodes);
}

}  // namespace
}  // namespace memverify
