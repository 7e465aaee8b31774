#include <gtest/gtest.h>

#include "plan/input_file.h"
#include "planner/csv.h"
#include "planner/optimal.h"

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
    const Placement placement = fit(problem, nodes);
    EXPECT_EQ(fault_of(problem, placement), "") << name;
    EXPECT_LE(placement.peak, 1048576) << name;
  }
}

TEST(HardProblems, TheExampleIsSolvedAtItsBound) {
  const Problem problem = problem_of("input.12.csv");
  EXPECT_EQ(problem.lower_bound, 12);
  const Placement placement = fit(problem, 1000);
  EXPECT_EQ(placement.peak, 12);
  EXPECT_TRUE(placement.is_optimal);
}

/// J takes 2161 nodes with all of them.
TEST(HardProblems, SwitchesEarnTheirKeep) {
  Problem problem = problem_of("J.1048576.csv");
  problem.capacity = 1048576;
  ASSERT_LE(fit(problem, 5000).peak, 1048576);
  // What `hats` saves is in SwitchesChangeNoAnswerAndSaveNodes.
  const OffsetSearchSwitches without[] = {{.ascending = false},
                                          {.left = false},
                                          {.dominance = false},

                                          {.parts = false}};
  for (const OffsetSearchSwitches& switches : without) {
    const Placement placement = fit(problem, 5000, switches);
    EXPECT_EQ(fault_of(problem, placement), "");
    EXPECT_GT(placement.nodes, 2161U) << &switches - without;
  }
}

}  // namespace
}  // namespace memverify
