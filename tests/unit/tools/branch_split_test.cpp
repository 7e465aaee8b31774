// Graphs split by path: whatever comes out is safe, by engines that know nothing of paths.
#include "tools/branch_split.h"

#include <gtest/gtest.h>

#include <random>

#include "plan/reader.h"
#include "plan/writer.h"
#include "sim/simulate.h"
#include "tools/plan_branches.h"

namespace memverify {
namespace {

using BranchJson = nlohmann::json;

/// Ops on two queues in a chain of `after`, most of them under a condition, each writing a tensor
/// and reading others that were written where it runs.
BranchJson random_branches(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return std::size_t{random() % n}; };
  BranchJson graph = BranchJson::parse(R"({"memverify": 1, "conditions": ["c", "d"],
    "pools": [{"id": "p"}], "queues": [{"id": "q"}, {"id": "r"}], "tensors": [], "ops": []})");
  const BranchJson paths[] = {
      {}, {{"c", true}}, {{"c", false}, {"d", true}}, {{"c", false}, {"d", false}}};
  const std::size_t tensors = 3 + below(3);
  for (std::size_t t = 0; t < tensors; ++t) {
    graph["tensors"].push_back({{"id", "t" + std::to_string(t)}, {"bytes", 1 + below(4)}});
  }
  graph["tensors"].push_back({{"id", "merged"}, {"bytes", 2}});
  const auto tensor = [&] { return "t" + std::to_string(below(tensors)); };
  const auto add = [&](const BranchJson& when, const BranchJson& reads, const BranchJson& writes) {
    const std::size_t k = graph["ops"].size();
    BranchJson op = {{"id", "o" + std::to_string(k)},
                     {"queue", below(2) == 0 ? "q" : "r"},
                     {"reads", reads},
                     {"writes", writes}};
    if (!when.empty()) op["when"] = when;
    for (std::size_t before = 0; before < k; ++before) {
      op["after"].push_back("o" + std::to_string(before));
    }
    graph["ops"].push_back(op);
  };
  for (const BranchJson& when : paths) {
    std::vector<std::string> written;
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      const std::string target = tensor();
      BranchJson reads = BranchJson::array();
      if (!written.empty() && below(2) == 0) reads.push_back(written[below(written.size())]);
      if (!reads.empty() && reads[0] == target) reads.clear();
      add(when, reads, {target});
      written.push_back(target);
    }
    add(when, {written.front()}, when.empty() ? BranchJson::array() : BranchJson({"merged"}));
  }
  if (below(2) == 0) add({}, {"merged"}, {tensor()});
  return graph;
}

PlanGraphOptions quickly() {
  PlanGraphOptions how{.place = find_strategy("optimal")->place};
  how.strategy.max_nodes = 2000;
  return how;
}

TEST(BranchSplit, PlansByPathAreSafeAndNoneIsBelowItsBound) {
  std::size_t split = 0;
  std::size_t lower = 0;
  std::size_t copied = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Result<Plan> graph = read_plan(random_branches(seed).dump(), "");
    ASSERT_TRUE(graph.ok());
    const Planning together = make_planning("", graph.value(), quickly());
    if (together.is_refused()) continue;
    const PathPlanning by_paths = plan_by_path("", graph.value(), quickly());
    const std::optional<SeparatePlan>& separate = by_paths.plan;
    if (!separate) continue;
    ++split;
    EXPECT_TRUE(separate->planning.is_good()) << write_plan(graph.value());
    const Plan& plan = separate->planning.planned->plan;
    SimStats stats;
    EXPECT_EQ(simulate(plan, {}, stats).verdict, Verdict::kSafe) << write_plan(plan);
    const BranchPrices prices = branch_prices(together, by_paths);
    lower += prices.separate.front().second < prices.together.front().second ? 1 : 0;
    copied += prices.copies.size();
    for (const PathPeaks& path : prices.paths) {
      for (const auto& [pool, bytes] : path.peaks) EXPECT_LE(bytes, prices.separate.front().second);
    }
  }
  EXPECT_GT(split, 100U);
  EXPECT_GT(lower, 0U);
  EXPECT_GT(copied, 0U);
}

TEST(BranchSplit, APathIsNamedByItsConditions) {
  EXPECT_EQ(path_name({{"training", true}, {"cached", false}}), "!cached,training");
}

TEST(BranchSplit, NamesThatAreTakenAreNotTakenAgain) {
  BranchJson graph =
      BranchJson::parse(R"({"memverify": 1, "conditions": ["c"], "pools": [{"id": "p"}],
    "queues": [{"id": "q"}], "tensors": [{"id": "x", "bytes": 1}, {"id": "x@!c", "bytes": 1}],
    "ops": [{"id": "a", "queue": "q", "writes": ["x"], "when": {"c": true}},
            {"id": "b", "queue": "q", "writes": ["x", "x@!c"], "when": {"c": false}}]})");
  const SplitGraph split = split_branches(graph, {});
  ASSERT_EQ(split.splits.size(), 1U);
  EXPECT_EQ(split.splits[0].own, "x@!c'");
  EXPECT_EQ(split.graph["ops"][1]["writes"], BranchJson({"x@!c'", "x@!c"}));
}

}  // namespace
}  // namespace memverify
