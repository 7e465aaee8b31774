// `memverify plan` where there is not enough room: what is missing, and advice that holds.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;

Json read_json(const std::string& text) { return Json::parse(text); }

/// x and y of 64 bytes, both alive at once; in `pools`.
Json two_alive(Json pools) {
  Json graph = {{"memverify", 1}, {"pools", std::move(pools)}};
  graph["queues"] = read_json(R"([{"id": "q"}])");
  graph["tensors"] = read_json(R"([{"id": "x", "bytes": 64}, {"id": "y", "bytes": 64}])");
  graph["ops"] = read_json(R"([{"id": "make", "queue": "q", "writes": ["x", "y"]},
                               {"id": "use", "queue": "q", "reads": ["x", "y"]}])");
  return graph;
}

/// A tile that is loaded, then used, in iterations, with `slots` copies wanted.
Json tiles(std::int64_t slots, std::int64_t distance) {
  Json graph = read_json(R"({"memverify": 1, "iterations": 6,
    "pools": [{"id": "hbm", "bytes": 200}], "queues": [{"id": "dma"}, {"id": "compute"}],
    "tensors": [{"id": "tile", "bytes": 64}],
    "ops": [{"id": "load", "queue": "dma", "writes": ["tile"]},
            {"id": "use", "queue": "compute", "reads": ["tile"], "after": ["load"]}]})");
  graph["tensors"][0]["slots"] = slots;
  graph["ops"][0]["after"] = {{{"op", "use"}, {"distance", distance}}};
  return graph;
}

class CliPlanCapacity : public ::testing::Test {
 protected:
  Outcome plan(const Json& graph, std::vector<std::string> more) {
    box_.write("graph.json", graph.dump());
    std::vector<std::string> command = {"plan", "graph.json"};
    command.insert(command.end(), more.begin(), more.end());
    return box_.run(command);
  }
  bool is_written() const { return std::filesystem::exists(box_.path("plan.json")); }
  Json written() const { return read_json(read_text(box_.path("plan.json"))); }
  /// What a refusal says as data.
  Json refusal(const Json& graph, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"-o", "plan.json", "--format", "json"});
    const Outcome made = plan(graph, more);
    EXPECT_EQ(made.exit_code, 1) << made.err;
    EXPECT_FALSE(is_written());
    return read_json(made.out);
  }
  Sandbox box_;
};

TEST_F(CliPlanCapacity, NamesTheBytesMissingAndTheTensorsAtThePeak) {
  const Outcome made = plan(two_alive({{{"id", "hbm"}, {"bytes", 100}}}), {"-o", "plan.json"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_TRUE(contains(made.err, "128 bytes needed, 100 there, 28 missing")) << made.err;
  EXPECT_TRUE(contains(made.err, "`x` [")) << made.err;
  EXPECT_TRUE(contains(made.err, "`y` [")) << made.err;
  EXPECT_FALSE(contains(made.err, "what fits")) << made.err;
  EXPECT_FALSE(is_written());
}

TEST_F(CliPlanCapacity, NoOptionMakesAPoolLarger) {
  const Json graph = two_alive({{{"id", "hbm"}, {"bytes", 100}}});
  const Outcome made = plan(graph, {"-o", "plan.json", "--capacity", "1000"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_TRUE(contains(made.err, "128 bytes needed, 100 there, 28 missing")) << made.err;
}

TEST_F(CliPlanCapacity, WhatIsAvailableCountsWhereNothingIsPlacedToo) {
  Json graph = two_alive({{{"id", "hbm"}}, {{"id", "rom"}}});
  for (Json& tensor : graph["tensors"]) tensor["pool"] = "hbm";
  graph["storages"] = {{{"id", "s"}, {"pool", "rom"}, {"offset", 0}, {"bytes", 500}}};
  graph["tensors"].push_back({{"id", "w"}, {"storage", "s"}, {"bytes", 500}});
  graph["constants"] = {"w"};
  EXPECT_EQ(plan(graph, {"-o", "plan.json", "--available-bytes", "rom=500"}).exit_code, 0);
  const Outcome made = plan(graph, {"-o", "plan.json", "--available-bytes", "rom=499"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_TRUE(contains(made.err, "500 bytes needed, 499 there, 1 missing")) << made.err;
}

TEST_F(CliPlanCapacity, AnotherPoolWithRoomIsAdvisedAndHolds) {
  Json graph = two_alive({{{"id", "fast"}, {"bytes", 64}}, {{"id", "slow"}}});
  for (Json& tensor : graph["tensors"]) tensor["pool"] = "fast";
  const Json said = refusal(graph);
  EXPECT_EQ(said["fits"], false);
  EXPECT_EQ(said["pools"][0]["missing_bytes"], 64);
  ASSERT_EQ(said["advice"].size(), 1U) << said;
  EXPECT_EQ(said["advice"][0]["pool"], "slow");
  EXPECT_EQ(said["advice"][0]["peak_bytes"], Json({{"fast", 64}, {"slow", 64}}));
  const std::string moved = said["advice"][0]["tensors"][0];
  graph["tensors"][moved == "x" ? 0 : 1]["pool"] = {"fast", "slow"};
  EXPECT_EQ(plan(graph, {"-o", "plan.json"}).exit_code, 0);
}

TEST_F(CliPlanCapacity, WhereTheOptionDecidesItIsAdvised) {
  const Json graph = two_alive({{{"id", "fast"}, {"bytes", 64}}, {{"id", "slow"}}});
  const Json said = refusal(graph, {"--pool", "fast"});
  ASSERT_EQ(said["advice"].size(), 1U) << said;
  EXPECT_EQ(said["advice"][0]["option"], Json({"fast", "slow"}));
  const Outcome made = plan(graph, {"-o", "plan.json", "--pool", "fast"});
  EXPECT_TRUE(contains(made.err, "    --pool fast,slow, for `")) << made.err;
  EXPECT_EQ(plan(graph, {"-o", "plan.json", "--pool", "fast,slow"}).exit_code, 0);
}

/// Its tensors name their pool, and nobody can edit the graph; least of all could they lie in the
/// file among the constants.
TEST_F(CliPlanCapacity, OfAnImportedModelNoOtherPoolIsAdvised) {
  const std::string model = MEMVERIFY_CORPUS "/imports/tflite/keyword_scrambled_8bit.tflite";
  const Outcome made = box_.run({"plan", model, "-o", "plan.json", "--capacity", "100"});
  EXPECT_EQ(made.exit_code, 1) << made.err;
  EXPECT_TRUE(contains(made.err, "missing")) << made.err;
  EXPECT_FALSE(contains(made.err, "pool `file`")) << made.err;
}

TEST_F(CliPlanCapacity, ATensorThatIsTooLargeIsNamedOnce) {
  Json graph = tiles(2, 2);
  graph["pools"][0]["bytes"] = 60;
  const Outcome made = plan(graph, {"-o", "plan.json"});
  EXPECT_EQ(made.exit_code, 1);
  const std::string words = "`tile` alone has 64 bytes";
  const std::size_t first = made.err.find(words);
  ASSERT_NE(first, std::string::npos) << made.err;
  EXPECT_EQ(made.err.find(words, first + 1), std::string::npos) << made.err;
}

TEST_F(CliPlanCapacity, APoolWithoutRoomIsNotAdvised) {
  Json graph = two_alive({{{"id", "fast"}, {"bytes", 64}}, {{"id", "slow"}, {"bytes", 63}}});
  for (Json& tensor : graph["tensors"]) tensor["pool"] = "fast";
  EXPECT_TRUE(refusal(graph)["advice"].empty());
  const Outcome made = plan(graph, {"-o", "plan.json"});
  EXPECT_TRUE(contains(made.err, "tried, and does not fit: pool `slow` as well")) << made.err;
}

TEST_F(CliPlanCapacity, FewerSlotsAreAdvisedAndTakenByDegrade) {
  const Json graph = tiles(4, 3);
  EXPECT_EQ(refusal(graph)["advice"],
            Json::array({{{"slots", 3}, {"peak_bytes", {{"hbm", 192}}}}}));
  const Outcome made = plan(graph, {"-o", "plan.json", "--degrade"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "4 slots do not fit; 3 slots each are taken instead")) << made.out;
  EXPECT_EQ(written()["peak_bytes"]["hbm"], 192);
  EXPECT_EQ(box_.run({"verify", "plan.json"}).exit_code, 0);
}

TEST_F(CliPlanCapacity, SlotsThatTheSyncsNeedAreNotTakenAway) {
  // The load may run while the two tiles before are in use: three slots at least.
  const Json graph = tiles(4, 3);
  EXPECT_TRUE(refusal(graph, {"--capacity", "128"})["advice"].empty());
  EXPECT_EQ(plan(graph, {"-o", "plan.json", "--degrade", "--capacity", "128"}).exit_code, 1);
  EXPECT_FALSE(is_written());
}

TEST_F(CliPlanCapacity, TheGreatestSymbolValueThatFitsIsAdvised) {
  Json graph = two_alive({{{"id", "hbm"}, {"bytes", 100}}});
  graph["symbols"] = {{"n", {{"min", 1}, {"max", 40}, {"multiple_of", 3}}}};
  graph["tensors"][0]["bytes"] = "2*n";
  EXPECT_EQ(refusal(graph)["advice"],
            Json::array({{{"symbol", "n"}, {"max", 18}, {"peak_bytes", {{"hbm", 100}}}}}));
  graph["symbols"]["n"]["max"] = 18;
  EXPECT_EQ(plan(graph, {"-o", "plan.json"}).exit_code, 0);
  graph["symbols"]["n"]["max"] = 21;
  EXPECT_EQ(plan(graph, {"-o", "plan.json"}).exit_code, 1);
}

TEST_F(CliPlanCapacity, AvailableBytesAreCheckedForAGraph) {
  const Json graph = two_alive({{{"id", "hbm"}}});
  EXPECT_EQ(plan(graph, {"--available-bytes", "128"}).exit_code, 0);
  const Outcome made = plan(graph, {"--available-bytes", "127"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_TRUE(contains(made.err, "1 missing")) << made.err;
  EXPECT_EQ(plan(graph, {}).exit_code, 2) << "-o is required otherwise";
}

TEST_F(CliPlanCapacity, AvailableBytesAreCheckedForAPlan) {
  ASSERT_EQ(plan(two_alive({{{"id", "hbm"}}}), {"-o", "plan.json"}).exit_code, 0);
  EXPECT_EQ(box_.run({"plan", "plan.json", "--available-bytes", "128"}).exit_code, 0);
  const Outcome made = box_.run({"plan", "plan.json", "--available-bytes", "100"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_TRUE(contains(made.out, "peak 128 bytes of 100 available, 28 missing")) << made.out;
  const Outcome json =
      box_.run({"plan", "plan.json", "--available-bytes", "hbm=100", "--format", "json"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(read_json(json.out)["pools"][0]["missing_bytes"], 28);
}

TEST_F(CliPlanCapacity, AvailableBytesSayOfWhichPool) {
  const Json graph = two_alive({{{"id", "fast"}, {"bytes", 64}}, {{"id", "slow"}}});
  for (const char* wrong : {"100", "flast=100", "fast=", "fast=-1", "x"}) {
    const Outcome made = plan(graph, {"--available-bytes", wrong});
    EXPECT_EQ(made.exit_code, 2) << wrong;
  }
  EXPECT_TRUE(contains(plan(graph, {"--available-bytes", "flast=100"}).err, "`fast`"));
  EXPECT_EQ(plan(graph, {"--available-bytes", "fast=64", "--available-bytes", "slow=64"}).exit_code,
            0);
  EXPECT_EQ(plan(graph, {"--available-bytes", "fast=0", "--available-bytes", "slow=64"}).exit_code,
            1);
}

}  // namespace
}  // namespace memverify::testing
