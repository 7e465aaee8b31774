#include "planner/plan_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "plan/reader.h"
#include "plan/writer.h"
#include "planner/graph_bound.h"
#include "planner/placed_plan.h"
#include "sim/simulate.h"
#include "tests/support/graph.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using testing::plan_of;
using testing::PlanJson;

Verdict hb_verdict(const Plan& plan) { return verify_happens_before(plan, {}).verdict; }

/// The graph text as a plan; fails the test when it does not read.
Plan graph_of(const PlanJson& json) {
  Result<Plan> plan = read_plan(json.dump(), "");
  EXPECT_TRUE(plan.ok()) << json.dump();
  return plan.ok() ? std::move(plan).value() : Plan();
}

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

PlanGraphOptions by(std::string_view strategy) {
  PlanGraphOptions options{.place = find_strategy(strategy)->place};
  options.strategy.max_seconds = 1;
  options.strategy.max_nodes = 2000;
  return options;
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

/// What every plan that comes out must satisfy.
void expect_good(const PlanJson& json, std::string_view strategy, bool simulated) {
  const Plan graph = graph_of(json);
  const std::optional<Planned> p = planned(graph, by(strategy));
  if (!p) return;
  const std::string text = write_plan(p->result.plan);
  EXPECT_TRUE(unplaced_roots(p->result.plan).empty());
  EXPECT_EQ(hb_verdict(p->result.plan), Verdict::kSafe) << strategy << "\n" << text;
  if (simulated) {
    SimOptions options;
    options.max_states = 20'000;
    SimStats stats;
    EXPECT_NE(simulate(p->result.plan, options, stats).verdict, Verdict::kUnsafe)
        << strategy << "\n"
        << text;
  }
  for (const PoolOutcome& pool : p->result.pools) EXPECT_GE(pool.peak, pool.bound.bytes) << text;
  for (BufferIndex b = 0; b < p->result.buffers.size(); ++b) {
    EXPECT_EQ(p->result.buffers[b].address % graph.pools[p->result.pool_of[b]].alignment, 0);
  }
  EXPECT_EQ(write_plan(planned(graph, by(strategy))->result.plan), text) << "not deterministic";
}

TEST(PlanGraph, EveryStrategyPlansTheCorpusSafely) {
  std::size_t graphs = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(MEMVERIFY_CORPUS))) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json") || path.find("imports") != std::string::npos) continue;
    const PlanJson json = PlanJson::parse(std::ifstream(path), nullptr, false);
    if (json.is_discarded() || !json.contains("tensors") || !plan_of(json)) continue;
    SCOPED_TRACE(path);
    ++graphs;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string_view strategy = strategies()[(graphs + k * 4) % strategies().size()].name;
      expect_good(testing::without_addresses(json), strategy, false);
    }
  }
  EXPECT_GT(graphs, 100U);
}

TEST(PlanGraph, EveryStrategyPlansRandomPlansSafely) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const PlanJson json = testing::without_addresses(testing::random_plan(seed));
    const auto all = strategies();
    expect_good(json, all[seed % all.size()].name, seed % 4 == 0);
  }
}

TEST(PlanGraph, EveryStrategyPlansSmallGraphsSafely) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    const auto all = strategies();
    expect_good(testing::random_small_graph(seed), all[seed % all.size()].name, seed % 4 == 0);
  }
}

/// Calls `visit` with every way to put the buffers within `room` bytes, until it returns false.
void for_each_placement(const std::vector<GraphBuffer>& buffers, std::int64_t room,
                        const std::function<bool(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> at(buffers.size(), 0);
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    if (buffers[k].bytes > room) return;
  }
  for (;;) {
    if (!visit(at)) return;
    std::size_t k = 0;
    while (k < at.size() && ++at[k] + buffers[k].bytes > room) at[k++] = 0;
    if (k == at.size()) return;
  }
}

Plan placed_at(const Plan& graph, const std::vector<GraphBuffer>& buffers,
               const std::vector<std::int64_t>& at) {
  std::vector<Place> places;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    places.push_back({.root = buffers[k].root,
                      .pool = PoolId{0},
                      .slots = {at[k]},
                      .bytes = buffers[k].bytes,
                      .element_0 = buffers[k].element_0});
  }
  return with_places(graph, places);
}

TEST(LowerBound, NoSafePlacementNeedsLess) {
  std::size_t looked_at = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Plan graph = graph_of(testing::random_small_graph(seed));
    const std::optional<Planned> p = planned(graph, by("by-size"));
    if (!p) continue;
    ++looked_at;
    const std::int64_t bound = p->result.pools.front().bound.bytes;
    for_each_placement(p->apart.buffers, bound - 1, [&](const std::vector<std::int64_t>& at) {
      const bool safe = hb_verdict(placed_at(graph, p->apart.buffers, at)) == Verdict::kSafe;
      EXPECT_FALSE(safe) << "seed " << seed << ", bound " << bound << "\n"
                         << write_plan(placed_at(graph, p->apart.buffers, at));
      return !safe;
    });
  }
  EXPECT_GT(looked_at, 150U);
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

TEST(PlanGraph, TensorsWithoutBytesNeedNone) {
  const PlanJson graph = one_queue({{{"id", "a"}, {"bytes", 0}}, {{"id", "b"}, {"bytes", 8}}},
                                   {{{"id", "w"}, {"writes", {"a", "b"}}}});
  EXPECT_EQ(peak_of(graph), 8);
}

}  // namespace
}  // namespace memverify
