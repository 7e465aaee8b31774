// The seconds of --seconds are for the whole command, whatever it does with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "planner/strategies.h"
#include "tools/plan_file.h"

namespace memverify {
namespace {

constexpr double kSeconds = 0.2;

std::vector<double> seconds_of_command;

/// Takes all the time it may, and twice the bytes it needs.
Placement place_at_leisure(const Problem& problem, const StrategyOptions& options) {
  seconds_of_command.push_back(options.max_seconds);
  std::this_thread::sleep_for(std::chrono::duration<double>(options.max_seconds));
  Placement placement = place_none(problem, options);
  placement.peak = 0;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    placement.offsets[b] *= 2;
    placement.peak = std::max(placement.peak, placement.offsets[b] + problem.buffers[b].bytes);
  }
  return placement;
}

/// How often a placement was asked for, which must not take more than `kSeconds` together.
std::size_t placements(const std::string& graph, PlanOptions options) {
  std::string folder = (std::filesystem::temp_directory_path() / "plan-time-XXXXXX").string();
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  options.file = folder + "/graph.json";
  options.output = folder + "/out.json";
  std::ofstream(options.file) << graph;
  const Strategy strategy{"leisure", "", place_at_leisure};
  options.strategy = &strategy;
  options.seconds = kSeconds;
  seconds_of_command.clear();
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  plan_file(options);
  ::testing::internal::GetCapturedStdout();
  ::testing::internal::GetCapturedStderr();
  std::filesystem::remove_all(folder);
  double sum = 0;
  for (const double seconds : seconds_of_command) sum += seconds;
  EXPECT_LE(sum, kSeconds + 1e-9);
  return seconds_of_command.size();
}

/// Two tensors that are alive together, of a size that depends on n, in slots, on paths.
std::string graph_with(const std::string& pool) {
  return R"({"memverify": 1, "iterations": 3, "pools": [)" + pool + R"(], "conditions": ["c"],
    "symbols": {"n": {"min": 1, "max": 8}}, "queues": [{"id": "q"}],
    "tensors": [{"id": "x", "bytes": "n", "slots": 2}, {"id": "y", "bytes": 8}],
    "ops": [{"id": "a", "queue": "q", "writes": ["x"]},
            {"id": "b", "queue": "q", "writes": ["y"], "when": {"c": true}},
            {"id": "r", "queue": "q", "reads": ["x", "y"], "when": {"c": true}},
            {"id": "d", "queue": "q", "writes": ["y"], "when": {"c": false}},
            {"id": "e", "queue": "q", "reads": ["x", "y"], "when": {"c": false}}]})";
}

TEST(PlanCommandTime, SlotsAreComparedWithinIt) {
  EXPECT_EQ(placements(graph_with(R"({"id": "p"})"), {}), 2U);
}

TEST(PlanCommandTime, BranchesAreComparedWithinIt) {
  EXPECT_GE(placements(graph_with(R"({"id": "p"})"), {.branches = "per-path"}), 3U);
}

TEST(PlanCommandTime, AdviceIsFoundWithinIt) {
  EXPECT_GE(placements(graph_with(R"({"id": "p", "bytes": 4})"), {}), 3U);
}

TEST(PlanCommandTime, BucketsAreMadeWithinIt) {
  EXPECT_EQ(placements(graph_with(R"({"id": "p"})"), {.buckets = {"n=2,4"}}), 3U);
}

}  // namespace
}  // namespace memverify
