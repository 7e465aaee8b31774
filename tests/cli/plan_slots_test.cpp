// `memverify plan` with rotating slots: what they cost, and what they gain.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

/// Loads of 10 ticks and uses of `use` ticks; a load waits for the use `distance` iterations ago.
std::string double_buffer(int use, int distance, const std::string& order = "serial") {
  return R"({"memverify": 1, "iterations": "unbounded", "pools": [{"id": "sram"}],
    "queues": [{"id": "dma", "order": ")" +
         order + R"("}, {"id": "compute"}],
    "tensors": [{"id": "tile", "bytes": 64, "slots": 2}, {"id": "sum", "bytes": 8}],
    "ops": [{"id": "load", "queue": "dma", "writes": ["tile"], "duration": [8, 10],
             "after": [{"op": "use", "distance": )" +
         std::to_string(distance) + R"(}]},
            {"id": "use", "queue": "compute", "reads": ["tile"], "writes": ["sum"],
             "duration": [1, )" +
         std::to_string(use) + R"(], "after": ["load"]}]})";
}

class CliPlanSlots : public ::testing::Test {
 protected:
  /// The report on the slots.
  nlohmann::json slots(const std::string& graph, std::vector<std::string> more = {}) {
    box_.write("graph.json", graph);
    more.insert(more.begin(), {"plan", "graph.json", "-o", "plan.json", "--format", "json"});
    const Outcome made = box_.run(more);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(box_.run({"verify", "plan.json"}).exit_code, 0);
    return nlohmann::json::parse(made.out).value("slots", nlohmann::json());
  }
  Sandbox box_;
};

TEST_F(CliPlanSlots, OverlapGivesTheLongerOfLoadAndUse) {
  const auto said = slots(double_buffer(4, 2));
  EXPECT_EQ(said["tensors"], nlohmann::json({"tile"}));
  EXPECT_EQ(said["slots"], 2);
  EXPECT_EQ(said["bytes"], 64);
  EXPECT_FALSE(said.contains("peak_cost")) << "one slot would be unsafe";
  EXPECT_EQ(said["queue_ticks"], nlohmann::json({{"dma", 10}, {"compute", 4}}));
  EXPECT_EQ(said["overlapped_cycle"], 10);
  EXPECT_EQ(said["sequential_cycle"], 14);
  EXPECT_EQ(said["timed_cycle"], 10);
  EXPECT_EQ(slots(double_buffer(25, 2))["timed_cycle"], 25);
}

TEST_F(CliPlanSlots, SyncsThatForbidOverlapGainNothing) {
  const auto said = slots(double_buffer(4, 1));
  EXPECT_EQ(said["overlapped_cycle"], 10);
  EXPECT_EQ(said["timed_cycle"], 14);
  EXPECT_EQ(said["timed_cycle_of_one_slot"], 14);
  EXPECT_EQ(said["peak_cost"], 0) << "both slots may have the same bytes";
}

TEST_F(CliPlanSlots, SlotsSetsTheirNumber) {
  EXPECT_EQ(slots(double_buffer(4, 2), {"--slots", "3"})["bytes"], 128);
  const auto plan = nlohmann::json::parse(read_text(box_.path("plan.json")));
  std::size_t rotating = 0;
  for (const auto& storage : plan["storages"]) {
    if (storage["offset"].is_array()) rotating = storage["offset"].size();
  }
  EXPECT_EQ(rotating, 3U);
  EXPECT_TRUE(slots(double_buffer(4, 1), {"--slots", "1"}).is_null()) << "nothing rotates";
}

TEST_F(CliPlanSlots, OpsOfAQueueThatOverlapDoNotAddUp) {
  std::string graph = double_buffer(4, 2, "issue");
  const std::string extra = R"({"id": "load2", "queue": "dma", "writes": ["more"],
                                "duration": [7, 7]}, )";
  graph.insert(graph.find(R"({"id": "use")"), extra);
  graph.insert(graph.find(R"({"id": "sum")"), R"({"id": "more", "bytes": 8, "slots": 2}, )");
  graph.replace(graph.find(R"(["load"])"), 8, R"(["load", "load2"])");
  graph.replace(graph.find(R"("duration": [7, 7])"), 18,
                R"("duration": [7, 7], "after": [{"op": "use", "distance": 2}])");
  EXPECT_EQ(slots(graph)["queue_ticks"]["dma"], 10);
}

TEST_F(CliPlanSlots, TheTextSaysIt) {
  box_.write("graph.json", double_buffer(4, 2));
  const Outcome made = box_.run({"plan", "graph.json", "-o", "plan.json"});
  EXPECT_TRUE(contains(made.out, "64 bytes besides the first of each")) << made.out;
  EXPECT_TRUE(contains(made.out, "10 ticks where queues overlap, 14 where they take turns"));
  EXPECT_TRUE(contains(made.out, "in timed runs 10 ticks an iteration")) << made.out;
}

TEST_F(CliPlanSlots, WithoutTimeNothingIsTimed) {
  const auto said = slots(double_buffer(4, 1), {"--seconds", "0"});
  EXPECT_EQ(said["overlapped_cycle"], 10);
  EXPECT_FALSE(said.contains("timed_cycle")) << said;
  EXPECT_FALSE(said.contains("timed_cycle_of_one_slot")) << said;
}

}  // namespace
}  // namespace memverify::testing
