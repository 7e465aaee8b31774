#include <gtest/gtest.h>

#include <fstream>

#include "planner/strategy.h"
#include "tests/support/graph.h"
#include "tests/support/planned.h"

namespace memverify {
namespace {

using testing::graph_of;
using testing::PlanJson;
using testing::planned_by;
using testing::safe_graph;

Verdict verdict_of(const PlanJson& graph, std::string_view strategy) {
  const auto safe = safe_graph(graph_of(graph));
  EXPECT_TRUE(safe) << graph.dump();
  if (!safe) return Verdict::kUnknown;
  return testing::hb_verdict(planned_by(*safe, *find_strategy(strategy)).plan);
}

PlanJson two_branches() {
  return PlanJson::parse(std::ifstream(MEMVERIFY_CORPUS "/graphs/two-branches.json"));
}

TEST(UnsafeStrategies, AreApartFromTheSafeOnes) {
  EXPECT_EQ(unsafe_strategies().size(), 2U);
  for (const Strategy& strategy : unsafe_strategies()) {
    EXPECT_TRUE(strategy.name.starts_with("unsafe-")) << strategy.name;
    EXPECT_EQ(find_strategy(strategy.name), &strategy);
    for (const Strategy& safe : strategies()) EXPECT_NE(safe.name, strategy.name);
  }
  for (const Strategy& safe : strategies()) EXPECT_TRUE(safe.is_safe()) << safe.name;
}

TEST(UnsafeStrategies, AreCaughtOnTheTwoBranchViewChain) {
  for (const Strategy& strategy : unsafe_strategies()) {
    EXPECT_EQ(verdict_of(two_branches(), strategy.name), Verdict::kUnsafe) << strategy.name;
  }
  EXPECT_EQ(verdict_of(two_branches(), "by-size"), Verdict::kSafe);
}

/// Each is wrong in its own way: views on one queue fool only one, two queues without views only
/// the other.
TEST(UnsafeStrategies, EachMakesItsOwnMistake) {
  PlanJson two_queues = two_branches();
  two_queues["tensors"].erase(2);
  two_queues["tensors"].erase(1);
  two_queues["ops"].erase(2);
  two_queues["ops"].erase(1);
  two_queues["ops"][2]["reads"] = {"A"};
  EXPECT_EQ(verdict_of(two_queues, "unsafe-program-order"), Verdict::kUnsafe);
  EXPECT_EQ(verdict_of(two_queues, "unsafe-direct-users"), Verdict::kSafe);

  PlanJson one_queue = two_branches();
  for (PlanJson& op : one_queue["ops"]) {
    if (op.contains("queue")) op["queue"] = "dma";
  }
  std::swap(one_queue["ops"][4], one_queue["ops"][5]);  // use_C after write_E.
  EXPECT_EQ(verdict_of(one_queue, "unsafe-program-order"), Verdict::kSafe);
  EXPECT_EQ(verdict_of(one_queue, "unsafe-direct-users"), Verdict::kUnsafe);
}

/// On one queue with neither views nor iterations both are right.
TEST(UnsafeStrategies, ProgramOrderIsRightOnOneQueue) {
  std::size_t looked_at = 0;
  std::size_t wrong = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    PlanJson graph = testing::random_small_graph(seed);
    const bool is_one_queue = graph["queues"].size() == 1;
    const auto safe = safe_graph(graph_of(graph));
    if (!safe) continue;
    ++looked_at;
    const PlannedGraph planned = planned_by(*safe, *find_strategy("unsafe-program-order"));
    const Verdict verdict = testing::hb_verdict(planned.plan);
    if (is_one_queue) {
      EXPECT_EQ(verdict, Verdict::kSafe) << seed << "\n" << graph.dump();
    }
    if (!is_one_queue && verdict == Verdict::kUnsafe) ++wrong;
  }
  EXPECT_GT(looked_at, 200U);
  EXPECT_GT(wrong, 10U);
}

}  // namespace
}  // namespace memverify
