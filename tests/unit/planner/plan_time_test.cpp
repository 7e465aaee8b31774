// What a whole plan may take: its seconds once, a walk over its cases once.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "plan/reader.h"
#include "planner/plan_graph.h"
#include "planner/strategies.h"
#include "tests/support/graph.h"

namespace memverify::testing {
namespace {

std::vector<double> seconds_given;

/// A strategy that takes all the time it may, and leaves gaps.
Placement place_slowly(const Problem& problem, const StrategyOptions& options) {
  seconds_given.push_back(options.max_seconds);
  std::this_thread::sleep_for(std::chrono::duration<double>(options.max_seconds));
  Placement placement = place_none(problem, options);
  placement.peak = 0;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    placement.offsets[b] *= 2;
    placement.peak = std::max(placement.peak, placement.offsets[b] + problem.buffers[b].bytes);
  }
  return placement;
}

/// x and y in place, in one of two pools.
ApartPlan two_in_place(Plan& graph, std::int64_t capacity) {
  PlanJson json = PlanJson::parse(R"({"memverify": 1, "queues": [{"id": "q"}],
    "pools": [{"id": "fast"}, {"id": "slow"}],
    "tensors": [{"id": "x", "bytes": 8}, {"id": "y", "bytes": 8}, {"id": "z", "bytes": 8}],
    "ops": [{"id": "load", "queue": "q", "writes": ["x", "z"]},
            {"id": "relu", "queue": "q", "reads": ["x"], "writes": ["y"], "in_place": [["x", "y"]]},
            {"id": "use", "queue": "q", "reads": ["y", "z"]}]})");
  json["pools"][0]["bytes"] = capacity;
  graph = read_plan(json.dump(), "").value();
  return place_apart(graph).value();
}

TEST(PlanTime, SecondsAreForAllPlacementsTogether) {
  for (const std::int64_t capacity : {100, 16, 8}) {  // At 16 and 8, some go to the other pool.
    Plan graph;
    const ApartPlan apart = two_in_place(graph, capacity);
    seconds_given.clear();
    PlanGraphOptions options{.place = place_slowly};
    options.strategy.max_seconds = 0.05;
    const PlannedGraph planned = plan_graph(graph, apart, options);
    EXPECT_TRUE(planned.fits());
    EXPECT_GE(seconds_given.size(), 2U) << capacity;
    double sum = 0;
    for (const double seconds : seconds_given) sum += seconds;
    EXPECT_LE(sum, 0.05 + 1e-9) << capacity;
  }
}

TEST(PlanTime, OneWalkGivesTheBoundsOfAWalkOfTheirOwn) {
  Plan graph;
  const ApartPlan apart = two_in_place(graph, 8);
  const PlannedGraph planned = plan_graph(graph, apart, {.place = place_by_size});
  ASSERT_EQ(planned.pools.size(), 2U);
  const std::vector<PoolBound> bounds = pool_bounds(apart, planned.pool_of);
  for (const PoolOutcome& outcome : planned.pools) {
    EXPECT_EQ(outcome.bound.bytes, bounds[index(outcome.pool)].bytes);
    EXPECT_EQ(outcome.bound.bytes, 8);
  }
}

}  // namespace
}  // namespace memverify::testing
