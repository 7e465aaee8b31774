#include "planner/plan_graph.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/graph.h"
#include "tests/support/planned.h"

namespace memverify {
namespace {

using testing::by;
using testing::graph_of;
using testing::hb_verdict;
using testing::PlanJson;

struct Planned {
  ApartPlan apart;
  PlannedGraph result;
};

/// nullopt: the graph is not safe wherever its tensors lie.
std::optional<Planned> planned(const Plan& graph, const PlanGraphOptions& options) {
  const Result<ApartPlan> apart = place_apart(graph, options.slots);
  if (!apart.ok() || hb_verdict(apart.value().plan) != Verdict::kSafe) return std::nullopt;
  return Planned{apart.value(), plan_graph(graph, apart.value(), options)};
}

std::int64_t peak_of(const PlanJson& json, std::string_view strategy = "by-size") {
  const std::optional<Planned> p = planned(graph_of(json), by(strategy));
  EXPECT_TRUE(p) << json.dump();
  if (!p) return -1;
  EXPECT_EQ(hb_verdict(p->result.plan), Verdict::kSafe);
  return p->result.pools.empty() ? 0 : p->result.pools.front().peak;
}

PlanJson one_queue(PlanJson tensors, PlanJson ops) {
  for (PlanJson& op : ops) op["queue"] = "q";
  return {{"memverify", 1},
          {"pools", {{{"id", "p"}}}},
          {"queues", {{{"id", "q"}}}},
          {"tensors", std::move(tensors)},
          {"ops", std::move(ops)}};
}

TEST(LowerBound, IsThreeWhereNoRunHasMoreThanTwoAlive) {
  const std::string path = MEMVERIFY_CORPUS "/graphs/fixed-offsets-cost.json";
  PlanJson json = PlanJson::parse(std::ifstream(path));
  const std::optional<Planned> p = planned(graph_of(json), by("by-size"));
  ASSERT_TRUE(p);
  EXPECT_EQ(p->result.pools.front().bound.bytes, 192);
  EXPECT_EQ(p->result.pools.front().bound.members.size(), 3U);
  EXPECT_EQ(p->result.pools.front().bound.largest_live_set, 128);
  json["ops"][2]["after"] = {"read_a_2"};  // One event brings it down.
  EXPECT_EQ(peak_of(json), 128);
}

TEST(PlanGraph, UsesTheGapBetweenTwoValues) {
  const PlanJson graph = one_queue({{{"id", "A"}, {"bytes", 4}}, {{"id", "B"}, {"bytes", 3}}},
                                   {{{"id", "wA"}, {"writes", {"A"}}},
                                    {{"id", "rA"}, {"reads", {"A"}}},
                                    {{"id", "wB"}, {"writes", {"B"}}},
                                    {{"id", "rB"}, {"reads", {"B"}}},
                                    {{"id", "wA2"}, {"writes", {"A"}}},
                                    {{"id", "rA2"}, {"reads", {"A"}}}});
  EXPECT_EQ(peak_of(graph), 4);
}

TEST(PlanGraph, UsesTheHalfThatIsDead) {
  const PlanJson graph =
      one_queue({{{"id", "A"}, {"bytes", 8}}, {{"id", "B"}, {"bytes", 4}}},
                {{{"id", "wA"}, {"writes", {"A"}}},
                 {{"id", "r0"}, {"reads", {{{"tensor", "A"}, {"offset", 0}, {"bytes", 4}}}}},
                 {{"id", "wB"}, {"writes", {"B"}}},
                 {{"id", "rB"}, {"reads", {"B", {{"tensor", "A"}, {"offset", 4}, {"bytes", 4}}}}}});
  EXPECT_EQ(peak_of(graph), 8);
}

TEST(PlanGraph, ViewsExtendTheLifeOfTheirRoot) {
  PlanJson graph = one_queue({{{"id", "A"}, {"bytes", 4}},
                              {{"id", "V"}, {"view_of", "A"}, {"bytes", 4}},
                              {{"id", "B"}, {"bytes", 4}}},
                             {{{"id", "wA"}, {"writes", {"A"}}},
                              {{"id", "wB"}, {"writes", {"B"}}},
                              {{"id", "r"}, {"reads", {"V", "B"}}}});
  EXPECT_EQ(peak_of(graph), 8);
}

TEST(PlanGraph, WritesInPlaceWhereThatSaves) {
  PlanJson graph = one_queue({{{"id", "x"}, {"bytes", 8}}, {{"id", "y"}, {"bytes", 8}}},
                             {{{"id", "load"}, {"writes", {"x"}}},
                              {{"id", "relu"}, {"reads", {"x"}}, {"writes", {"y"}}},
                              {{"id", "use"}, {"reads", {"y"}}}});
  EXPECT_EQ(peak_of(graph), 16);
  graph["ops"][1]["in_place"] = PlanJson::array({PlanJson::array({"x", "y"})});
  EXPECT_EQ(peak_of(graph), 8);
}

TEST(PlanGraph, ReusesOnlyWhatHappensBeforeAllows) {
  PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 8}}, {{"id", "b"}, {"bytes", 8}}},
                             {{{"id", "wa"}, {"writes", {"a"}}},
                              {{"id", "ra"}, {"reads", {"a"}}},
                              {{"id", "wb"}, {"writes", {"b"}}},
                              {{"id", "rb"}, {"reads", {"b"}}}});
  EXPECT_EQ(peak_of(graph), 8);
  graph["queues"].push_back({{"id", "other"}});
  graph["ops"][2]["queue"] = graph["ops"][3]["queue"] = "other";
  EXPECT_EQ(peak_of(graph), 16);
  graph["ops"][2]["after"] = {"ra"};
  EXPECT_EQ(peak_of(graph), 8);
}

TEST(PlanGraph, HoldsWhatTheBoundarySays) {
  PlanJson graph =
      one_queue({{{"id", "in"}, {"bytes", 8}}, {{"id", "out"}, {"bytes", 8}}},
                {{{"id", "r"}, {"reads", {"in"}}}, {{"id", "w"}, {"writes", {"out"}}}});
  graph["inputs"] = {"in"};
  graph["outputs"] = {"out"};
  EXPECT_EQ(peak_of(graph), 16);
  graph["donated"] = {"in"};
  EXPECT_EQ(peak_of(graph), 8);
}

TEST(PlanGraph, KeepsWhatAnUnknownCommandMayRead) {
  PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 8}}, {{"id", "b"}, {"bytes", 8}}},
                             {{{"id", "wa"}, {"writes", {"a"}}},
                              {{"id", "ra"}, {"reads", {"a"}}},
                              {{"id", "wb"}, {"writes", {"b"}}},
                              {{"id", "rb"}, {"reads", {"b"}}},
                              {{"id", "call"}, {"writes", {"a"}}}});
  EXPECT_EQ(peak_of(graph), 8);
  graph["ops"][4]["kind"] = "unknown";
  EXPECT_EQ(peak_of(graph), 16);
}

TEST(PlanGraph, TakesTheUnionOfAllConditions) {
  PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 8}}, {{"id", "b"}, {"bytes", 8}}},
                             {{{"id", "wa"}, {"writes", {"a"}}},
                              {{"id", "ra"}, {"reads", {"a"}}},
                              {{"id", "wb"}, {"writes", {"b"}}},
                              {{"id", "rb"}, {"reads", {"b"}}},
                              {{"id", "late"}, {"reads", {"a"}}, {"when", {{"more", true}}}}});
  graph["conditions"] = {"more"};
  EXPECT_EQ(peak_of(graph), 16);
  graph["ops"][4]["when"]["more"] = true;
  graph["ops"].erase(4);
  EXPECT_EQ(peak_of(graph), 8);
}

TEST(PlanGraph, LooksAcrossTheSeamOfIterations) {
  // The consumer on another queue may still read a while the next iteration writes b.
  PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 8}}, {{"id", "b"}, {"bytes", 8}}},
                             {{{"id", "wb"}, {"writes", {"b"}}},
                              {{"id", "rb"}, {"reads", {"b"}}},
                              {{"id", "wa"}, {"writes", {"a"}}},
                              {{"id", "ra"}, {"reads", {"a"}}}});
  graph["queues"].push_back({{"id", "other"}});
  graph["ops"][3]["queue"] = "other";
  graph["ops"][3]["after"] = {"wa"};
  graph["ops"][2]["after"] = {{{"op", "ra"}, {"distance", 1}}};
  EXPECT_EQ(peak_of(graph), 8);
  graph["iterations"] = 5;
  EXPECT_EQ(peak_of(graph), 16);
  graph["iterations"] = "unbounded";
  EXPECT_EQ(peak_of(graph), 16);
}

TEST(PlanGraph, SizesAreTheGreatestOfAllSymbolValues) {
  PlanJson graph = one_queue({{{"id", "a"}, {"bytes", "4*n"}}, {{"id", "b"}, {"bytes", "64-4*n"}}},
                             {{{"id", "wa"}, {"writes", {"a"}}},
                              {{"id", "wb"}, {"writes", {"b"}}},
                              {{"id", "r"}, {"reads", {"a", "b"}}}});
  graph["symbols"] = {{"n", {{"min", 1}, {"max", 8}}}};
  EXPECT_EQ(peak_of(graph), 32 + 60);
}

TEST(PlanGraph, SpillsToThePoolThatComesNext) {
  PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 8}}, {{"id", "b"}, {"bytes", 8}}},
                             {{{"id", "wa"}, {"writes", {"a"}}},
                              {{"id", "wb"}, {"writes", {"b"}}},
                              {{"id", "r"}, {"reads", {"a", "b"}}}});
  graph["pools"] = {{{"id", "fast"}, {"bytes", 8}}, {{"id", "slow"}}};
  std::optional<Planned> p = planned(graph_of(graph), by("by-size"));
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->result.fits());
  EXPECT_EQ(p->result.pools.size(), 2U);
  EXPECT_EQ(hb_verdict(p->result.plan), Verdict::kSafe);
  graph["tensors"][0]["pool"] = graph["tensors"][1]["pool"] = "fast";
  p = planned(graph_of(graph), by("by-size"));
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->result.fits());
}

TEST(PlanGraph, KeepsWhatHasAPlace) {
  PlanJson graph = one_queue(
      {{{"id", "a"}, {"storage", "s"}, {"offset", 0}, {"bytes", 8}}, {{"id", "b"}, {"bytes", 8}}},
      {{{"id", "wa"}, {"writes", {"a"}}},
       {{"id", "wb"}, {"writes", {"b"}}},
       {{"id", "r"}, {"reads", {"a", "b"}}}});
  graph["storages"] = {{{"id", "s"}, {"pool", "p"}, {"offset", 4}, {"bytes", 8}}};
  EXPECT_EQ(peak_of(graph), 20);  // Four bytes below are not enough.
}

/// Also where nobody uses it: it may be overwritten.
TEST(PlanGraph, KeepsInputsFromInputsThatHaveAPlace) {
  PlanJson graph = one_queue(
      {{{"id", "a"}, {"storage", "s"}, {"offset", 0}, {"bytes", 8}}, {{"id", "b"}, {"bytes", 8}}},
      {{{"id", "r"}, {"reads", {"b"}}}});
  graph["storages"] = {{{"id", "s"}, {"pool", "p"}, {"offset", 0}, {"bytes", 8}}};
  graph["inputs"] = {"a", "b"};
  graph["donated"] = {"a"};
  EXPECT_EQ(peak_of(graph), 16);
}

TEST(PlanGraph, TensorsWithoutBytesNeedNone) {
  const PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 0}}, {{"id", "b"}, {"bytes", 8}}},
                                   {{{"id", "w"}, {"writes", {"a", "b"}}}});
  EXPECT_EQ(peak_of(graph), 8);
}

}  // namespace
}  // namespace memverify
