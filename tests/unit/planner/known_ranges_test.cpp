#include <gtest/gtest.h>

#include "plan/input_file.h"
#include "planner/csv.h"
#include "planner/optimal.h"

namespace memverify {
namespace {

// MiniMalloc's J is published with a capacity of 1,048,576; its optimum is not known.
TEST(KnownRanges, JIsPlacedBelowItsCapacity) {
  const std::string path = MEMVERIFY_CORPUS "/problems/J.1048576.csv";
  const Result<InputFile> file = InputFile::open(path);
  ASSERT_TRUE(file.ok());
  const Result<CsvProblem> csv = read_csv(file.value().text(), path);
  ASSERT_TRUE(csv.ok());
  Problem problem = csv.value().problem;
  problem.capacity = 1'044'000;
  problem.capacity_is_enough = true;
  const Placement placement = optimal_placement(problem, {.max_seconds = 1e6, .max_nodes = 5000});
  EXPECT_EQ(fault_of(problem, placement), "");
  EXPECT_LE(placement.peak, 1'043'456);
  EXPECT_GE(placement.peak, problem.lower_bound);
}

}  // namespace
}  // namespace memverify
