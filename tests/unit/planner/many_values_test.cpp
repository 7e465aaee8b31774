// Graphs whose symbols have too many values to look at each.
#include <gtest/gtest.h>

#include "plan/reader.h"
#include "plan/writer.h"
#include "planner/plan_graph.h"
#include "planner/size_bound.h"
#include "tests/support/graph.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

/// `max` 1000, so that not every value is looked at.
PlanJson with_symbol(PlanJson graph) {
  graph["symbols"] = {{"n", {{"min", 1}, {"max", 1000}}}};
  return graph;
}

/// nullopt: the graph is not safe wherever its tensors lie. What comes out is safe for all values.
std::optional<PlannedGraph> planned_for_all(const PlanJson& json) {
  const Result<Plan> graph = read_plan(json.dump(), "");
  EXPECT_TRUE(graph.ok()) << json.dump();
  const Result<ApartPlan> apart = place_apart(graph.value());
  EXPECT_TRUE(apart.ok()) << json.dump();
  if (verify_happens_before(apart.value().plan, {}).verdict != Verdict::kSafe) return std::nullopt;
  const PlannedGraph planned =
      plan_graph(graph.value(), apart.value(), {.place = find_strategy("by-size")->place});
  EXPECT_EQ(verify_happens_before(planned.plan, {}).verdict, Verdict::kSafe)
      << write_plan(planned.plan);
  EXPECT_GE(planned.pools.front().peak, planned.pools.front().bound.bytes);
  return planned;
}

std::int64_t peak_for_all(const PlanJson& json) {
  const std::optional<PlannedGraph> planned = planned_for_all(json);
  EXPECT_TRUE(planned) << json.dump();
  return planned ? planned->pools.front().peak : -1;
}

/// Four tensors of `bytes`, each made of the one before.
PlanJson symbolic_chain(const PlanJson& bytes) {
  PlanJson graph = with_symbol({{"memverify", 1}});
  graph["pools"] = PlanJson::parse(R"([{"id": "p"}])");
  graph["queues"] = PlanJson::parse(R"([{"id": "q"}])");
  for (const char* id : {"a", "b", "c", "d"}) {
    graph["tensors"].push_back({{"id", id}, {"bytes", bytes}});
  }
  graph["ops"] = PlanJson::parse(R"([
    {"id": "make_a", "queue": "q", "writes": ["a"]},
    {"id": "make_b", "queue": "q", "reads": ["a"], "writes": ["b"]},
    {"id": "make_c", "queue": "q", "reads": ["b"], "writes": ["c"]},
    {"id": "make_d", "queue": "q", "reads": ["c"], "writes": ["d"]}])");
  return graph;
}

TEST(ManyValues, TensorsShareBytesAllTheSame) {
  EXPECT_EQ(peak_for_all(symbolic_chain("4*n")), 2 * 4000);
  PlanJson graph = symbolic_chain("4*n");
  graph["outputs"] = {"a", "d"};
  EXPECT_EQ(peak_for_all(graph), 3 * 4000);
}

TEST(ManyValues, WhatIsAlikeIsWrittenInPlace) {
  PlanJson graph = symbolic_chain("4*n");
  graph["ops"][1]["in_place"] = PlanJson::array({{"a", "b"}});
  graph["ops"][2]["in_place"] = PlanJson::array({{"b", "c"}});
  graph["ops"][3]["in_place"] = PlanJson::array({{"c", "d"}});
  EXPECT_EQ(peak_for_all(graph), 4000);
  graph["tensors"][2]["bytes"] = "3999+1+n-n";  // Alike for no value but one.
  EXPECT_EQ(peak_for_all(graph), 8000 + 999);
}

TEST(ManyValues, TheGreatestSizeNeedNotBeAtTheEnds) {
  EXPECT_EQ(peak_for_all(symbolic_chain("100*(n%7)")), 2 * 600);
  EXPECT_EQ(peak_for_all(symbolic_chain("align(max(n, 1000-n), 256)")), 2 * 1024);
}

TEST(ManyValues, SyncsThatDependOnASymbolLeaveEverythingApart) {
  PlanJson graph = symbolic_chain("4*n");
  graph["semaphores"] = PlanJson::parse(R"([{"id": "s"}])");
  graph["ops"][0]["signals"] = PlanJson::parse(R"([{"semaphore": "s", "value": "n"}])");
  EXPECT_EQ(peak_for_all(graph), 4 * 4000);
}

TEST(ManyValues, RandomGraphsAreSafeForAllValues) {
  std::size_t looked_at = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    PlanJson graph = with_symbol(random_small_graph(seed));
    for (PlanJson& tensor : graph["tensors"]) {
      if (!tensor.contains("view_of") && tensor.contains("bytes")) {
        tensor["bytes"] = tensor["bytes"].dump() + "+n-1";
      }
    }
    if (planned_for_all(graph)) ++looked_at;
  }
  EXPECT_GT(looked_at, 10U);
}

TEST(SizeBound, IsNeverBelowAnyValue) {
  const char* const sizes[] = {"4*n",           "n*m",        "64-n",          "n%7*3",
                               "(n+m)/3",       "align(n,8)", "min(n,20)-m+9", "max(3*n-50,m*m)",
                               "-(n-40)*(m+1)", "7"};
  for (const char* size : sizes) {
    SCOPED_TRACE(size);
    PlanJson json = symbolic_chain(size);
    json["symbols"] = {{"n", {{"min", 1}, {"max", 40}}}, {"m", {{"min", 2}, {"max", 9}}}};
    const Result<Plan> graph = read_plan(json.dump(), "");
    ASSERT_TRUE(graph.ok());
    const Tensor& tensor = graph.value().tensors[TensorId{0}];
    const std::optional<std::int64_t> bound = greatest_bytes(graph.value(), tensor);
    ASSERT_TRUE(bound);
    std::int64_t greatest = 0;
    Valuation valuation{.symbols = {0, 0}};
    const bool n_first = graph.value().symbols[SymbolId{0}].name == "n";
    std::int64_t& n = valuation.symbols[n_first ? 0 : 1];
    std::int64_t& m = valuation.symbols[n_first ? 1 : 0];
    for (n = 1; n <= 40; ++n) {
      for (m = 2; m <= 9; ++m) {
        const auto value = graph.value().formulas.eval(tensor.bytes, valuation);
        greatest = std::max(greatest, value.value_or(0));
      }
    }
    EXPECT_GE(*bound, greatest);
    EXPECT_LE(*bound, 2 * greatest) << "too loose to be of use";
  }
}

}  // namespace
}  // namespace memverify::testing
