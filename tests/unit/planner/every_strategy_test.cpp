// Every strategy on every graph: what comes out is a safe plan, says every engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "plan/writer.h"
#include "planner/placed_plan.h"
#include "sim/simulate.h"
#include "tests/support/graph.h"
#include "tests/support/planned.h"
#include "verify/smt_verify.h"

namespace memverify {
namespace {

using testing::PlanJson;
using testing::planned_by;
using testing::SafeGraph;

/// Which engines are asked besides happens-before, the quickest.
enum class Asked { kOne, kSimulator, kAll };

void expect_not_unsafe(const Plan& plan, Asked asked) {
  EXPECT_EQ(testing::hb_verdict(plan), Verdict::kSafe);
  if (asked == Asked::kOne) return;
  SimOptions bounded;
  bounded.max_states = 20'000;
  SimStats stats;
  EXPECT_NE(simulate(plan, bounded, stats).verdict, Verdict::kUnsafe);
  if (asked == Asked::kSimulator) return;
  EXPECT_NE(verify_smt(plan, {.total_steps = 20'000'000}).verdict, Verdict::kUnsafe);
}

void expect_aligned(const SafeGraph& safe, const PlannedGraph& planned) {
  for (BufferIndex b = 0; b < planned.buffers.size(); ++b) {
    const GraphBuffer& buffer = planned.buffers[b];
    EXPECT_EQ(buffer.address % safe.graph.pools[planned.pool_of[b]].alignment, 0);
    const std::int64_t own = safe.graph.tensors[buffer.root].alignment;
    EXPECT_EQ(buffer.address % std::max<std::int64_t>(own, 1), 0);
  }
}

/// False: the graph is not safe wherever its tensors lie. Strategy `round` is asked twice.
bool expect_good_plans(const PlanJson& json, Asked asked, std::size_t round) {
  const auto safe = testing::safe_graph(testing::graph_of(json));
  if (!safe) return false;
  std::set<std::string> plans;  // Most strategies agree on small graphs.
  for (const Strategy& strategy : strategies()) {
    SCOPED_TRACE(strategy.name);
    const PlannedGraph planned = planned_by(*safe, strategy);
    const std::string text = write_plan(planned.plan);
    SCOPED_TRACE(text);
    EXPECT_TRUE(unplaced_roots(planned.plan).empty());
    for (const PoolOutcome& pool : planned.pools) {
      EXPECT_GE(pool.peak, pool.bound.bytes);
      EXPECT_GE(pool.bound.bytes, pool.bound.largest_live_set);
    }
    expect_aligned(*safe, planned);
    if (&strategy == &strategies()[round % strategies().size()]) {
      EXPECT_EQ(write_plan(planned_by(*safe, strategy).plan), text) << "not deterministic";
    }
    if (plans.insert(text).second) expect_not_unsafe(planned.plan, asked);
  }
  return true;
}

/// `few`, or what `ctest -L slow` asks for.
std::uint64_t seeds_of_strategies(std::uint64_t few) {
  const char* seeds = std::getenv("MEMVERIFY_STRATEGY_SEEDS");
  return seeds == nullptr ? few : std::stoull(seeds);
}

TEST(EveryStrategy, PlansTheCorpusSafely) {
  std::size_t graphs = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(MEMVERIFY_CORPUS))) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json") || path.find("imports") != std::string::npos) continue;
    const PlanJson json = PlanJson::parse(std::ifstream(path), nullptr, false);
    if (json.is_discarded() || !json.contains("tensors") || !testing::plan_of(json)) continue;
    SCOPED_TRACE(path);
    if (expect_good_plans(testing::without_addresses(json), Asked::kOne, graphs)) ++graphs;
  }
  EXPECT_GT(graphs, 60U);
}

TEST(EveryStrategy, PlansRandomPlansSafely) {
  std::size_t graphs = 0;
  for (std::uint64_t seed = 0; seed < seeds_of_strategies(150); ++seed) {
    SCOPED_TRACE(seed);
    const Asked asked = seed % 4 != 0 ? Asked::kOne : Asked::kSimulator;
    const PlanJson json = testing::without_addresses(testing::random_plan(seed));
    if (expect_good_plans(json, asked, graphs)) ++graphs;
  }
  EXPECT_GT(graphs, 20U);
}

TEST(EveryStrategy, PlansSmallGraphsSafely) {
  std::size_t graphs = 0;
  for (std::uint64_t seed = 0; seed < seeds_of_strategies(300); ++seed) {
    SCOPED_TRACE(seed);
    const Asked asked = seed % 10 != 0 ? Asked::kSimulator : Asked::kAll;
    if (expect_good_plans(testing::random_small_graph(seed, 6), asked, graphs)) ++graphs;
  }
  EXPECT_GT(graphs, 80U);
}

}  // namespace
}  // namespace memverify
