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

/// Beside in-place pairs the antichain leaves out what a run has alive.
TEST(LowerBound, IsNotBelowWhatIsAliveAtOnce) {
  const PlanJson graph = one_queue(
      {{{"id", "a"}, {"bytes", 1}}, {{"id", "b"}, {"bytes", 9}}, {{"id", "c"}, {"bytes", 9}}},
      {{{"id", "load"}, {"writes", {"a", "c"}}},
       {{"id", "grow"},
        {"reads", {"a"}},
        {"writes", {"b"}},
        {"in_place", PlanJson::array({PlanJson::array({"a", "b"})})}},
       {{"id", "fold"}, {"reads", {"b", "c"}}}});
  const std::optional<Planned> p = planned(graph_of(graph), by("optimal"));
  ASSERT_TRUE(p);
  const PoolBound& bound = p->result.pools.front().bound;
  EXPECT_EQ(bound.bytes, 18);
  EXPECT_EQ(bound.largest_live_set, 18);
}

/// In any number of queues that order nothing.
TEST(LowerBound, OfThousandsOfOpsSideBySideIsKnownAtOnce) {
  PlanJson tensors = PlanJson::array();
  PlanJson ops = PlanJson::array();
  for (int k = 0; k < 10'000; ++k) {
    const std::string name = "t" + std::to_string(k);
    tensors.push_back({{"id", name}, {"bytes", 1 + k % 7}});
    ops.push_back({{"id", "op" + name}, {"writes", {name}}});
  }
  ops.push_back({{"id", "last"}, {"reads", {"t0"}}, {"after", {"opt0"}}});
  ops.push_back({{"id", "next"}, {"writes", {"x"}}, {"after", {"last"}}});
  tensors.push_back({{"id", "x"}, {"bytes", 1}});
  PlanJson graph = one_queue(std::move(tensors), std::move(ops));
  graph["queues"][0]["order"] = "none";
  const std::optional<Planned> p = planned(graph_of(graph), by("by-size"));
  ASSERT_TRUE(p);
  const PoolOutcome& pool = p->result.pools.front();
  EXPECT_EQ(pool.bound.bytes, pool.total - 1) << "x may lie where t0 was";
  EXPECT_EQ(pool.peak, pool.bound.bytes);
  EXPECT_EQ(hb_verdict(p->result.plan), Verdict::kSafe);
}

TEST(PlanGraph, GoesOnBelowTheCapacity) {
  std::size_t lower = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    PlanJson graph = testing::random_small_graph(seed, 9);
    const std::optional<Planned> free = planned(graph_of(graph), by("auto"));
    if (!free || free->result.pools.empty()) continue;
    graph["pools"][0]["bytes"] = 1000;
    const std::int64_t peak = planned(graph_of(graph), by("auto"))->result.pools.front().peak;
    ASSERT_EQ(peak, free->result.pools.front().peak) << seed;
    if (peak < peak_of(graph, "by-size")) ++lower;
  }
  EXPECT_GT(lower, 0U);
}

/// What lives all the time may be below the rest, and is not called optimal without a proof.
TEST(PlanGraph, AlignmentDecidesWhatIsOnTop) {
  PlanJson graph =
      one_queue({{{"id", "x"}, {"bytes", 64}, {"alignment", 64}}, {{"id", "t"}, {"bytes", 10}}},
                {{{"id", "op"}, {"reads", {"x"}}, {"writes", {"t"}}}});
  graph["inputs"] = {"x"};
  EXPECT_EQ(peak_of(graph), 74);
  graph["tensors"][1]["bytes"] = 100;
  graph["tensors"][1]["alignment"] = 100;
  EXPECT_EQ(peak_of(graph), 192);  // 164 with t at 0, and x at 100, is not aligned.
  EXPECT_FALSE(planned(graph_of(graph), by("optimal"))->result.pools.front().is_optimal);
}

/// A graph is not unsafe for alignments that some placement keeps.
TEST(PlanGraph, TensorsAndViewsStartWhereTheyAsk) {
  const PlanJson ops = {{{"id", "make"}, {"writes", {"a", "x"}}},
                        {{"id", "use"}, {"reads", {"a", "v"}}}};
  PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 3}},
                              {{"id", "x"}, {"bytes", 16}, {"alignment", 4}},
                              {{"id", "v"}, {"view_of", "x"}, {"offset", 4}, {"bytes", 8}}},
                             ops);
  EXPECT_EQ(peak_of(graph, "optimal"), 19);
  graph["tensors"][2]["alignment"] = 8;
  EXPECT_EQ(peak_of(graph, "optimal"), 20) << "x is 4 bytes into its slot, after a";
  graph["tensors"][1] = {
      {"id", "x"}, {"dtype", "i8"}, {"shape", {6}}, {"strides", {-1}}, {"alignment", 8}};
  graph["tensors"][2] = {
      {"id", "v"}, {"view_of", "x"}, {"offset", -4}, {"bytes", 1}, {"alignment", 4}};
  EXPECT_EQ(peak_of(graph, "optimal"), 9) << "element 0 is at 8, the last one at 3";
  graph["tensors"][2]["offset"] = -3;
  EXPECT_FALSE(planned(graph_of(graph), by("optimal"))) << "a multiple of 8 less 3 is none of 4";
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

/// Found by memverify fuzz: what no clock decides was placed onto what had a place.
TEST(PlanGraph, KeepsAwayFromWhatHasAPlaceWhereTheOrderIsNotKnown) {
  const PlanJson json = PlanJson::parse(R"({
    "memverify": 1, "iterations": 2, "pools": [{"id": "mem"}],
    "queues": [{"id": "q", "order": "none"}], "semaphores": [{"id": "s"}],
    "storages": [{"id": "fixed", "pool": "mem", "offset": 0, "bytes": 4}],
    "tensors": [{"id": "a", "storage": "fixed", "bytes": 4}, {"id": "b", "bytes": 4}],
    "ops": [{"id": "first", "queue": "q", "writes": ["a"]},
            {"id": "all", "kind": "host_wait", "for": {"queue": "q"}},
            {"id": "write", "queue": "q", "writes": ["b"], "signals": [{"semaphore": "s"}]},
            {"id": "read", "queue": "q", "reads": ["b"],
             "waits": [{"semaphore": "s", "consume": true}]}]})");
  const Plan graph = graph_of(json);
  const Result<ApartPlan> apart = place_apart(graph);
  ASSERT_TRUE(apart.ok());
  const PlannedGraph result = plan_graph(graph, apart.value(), by("by-size"));
  EXPECT_FALSE(result.gap.empty());
  EXPECT_EQ(result.buffers.front().address, 4);
}

TEST(PlanGraph, TensorsWithoutBytesNeedNone) {
  const PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 0}}, {{"id", "b"}, {"bytes", 8}}},
                                   {{{"id", "w"}, {"writes", {"a", "b"}}}});
  EXPECT_EQ(peak_of(graph), 8);
}

}  // namespace
}  // namespace memverify
