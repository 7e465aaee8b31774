#include "planner/live_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/planner/live_cases.h"

namespace memverify {
namespace {

/// Whatever is alive at once stays so in the run that holds back one last access of each and does
/// all else: tries every set of accesses to hold back.
std::int64_t largest_by_brute_force(const LiveCase& at, const std::vector<std::int64_t>& weights,
                                    const std::vector<Cmd>& lasts) {
  std::int64_t best = 0;
  for (std::uint32_t mask = 0; mask < 1U << lasts.size(); ++mask) {
    std::vector<Cmd> held;
    for (std::size_t k = 0; k < lasts.size(); ++k) {
      if ((mask >> k & 1U) != 0) held.push_back(lasts[k]);
    }
    const Walk run = walk(at.program, held);
    std::int64_t bytes = 0;
    for (std::size_t v = 0; v < weights.size(); ++v) {
      const LiveValue& value = at.live.values[v];
      const auto begun = [&](Cmd cmd) { return run.started[cmd] != 0; };
      const auto done = [&](Cmd cmd) { return run.completed[cmd] != 0; };
      const bool begins = value.from_start || std::ranges::any_of(at.live.firsts(value), begun);
      const bool ended = !value.to_end && std::ranges::all_of(at.live.lasts(value), done);
      if (begins && !ended) bytes += weights[v];
    }
    best = std::max(best, bytes);
  }
  return best;
}

TEST(LiveSet, IsTheLargestOfAllRuns) {
  std::size_t cases = 0;
  std::size_t exact = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    for_each_live_case(random_graph(seed), [&](const LiveCase& at) {
      std::set<Cmd> lasts;
      for (const LiveValue& value : at.live.values) {
        for (const Cmd cmd : at.live.lasts(value)) lasts.insert(cmd);
      }
      if (lasts.size() > 8) return;
      const std::vector<std::int64_t> weights = random_weights(at.live, seed);
      const std::int64_t largest =
          largest_by_brute_force(at, weights, std::vector<Cmd>(lasts.begin(), lasts.end()));
      LiveSetWork work = 10'000;
      const LiveSet found = largest_live_set(at.program, at.walk, at.live, weights, {}, work);
      EXPECT_LE(found.bytes, largest);
      EXPECT_GE(found.at_most, largest);
      std::int64_t sum = 0;
      for (const std::uint32_t v : found.members) sum += weights[v];
      EXPECT_EQ(sum, found.bytes);
      EXPECT_TRUE(holds({found.bytes, found.members}, at.live, at.order, weights, {}));
      ++cases;
      if (found.bytes != found.at_most) return;
      EXPECT_EQ(found.bytes, largest);
      ++exact;
    });
  }
  EXPECT_GT(cases, 500U);
  EXPECT_GT(exact, cases * 9 / 10);
}

/// Of 8 bytes for each value; every op that may write in place does.
LiveSet live_set_of(const testing::PlanJson& graph, const SharingPairs& sharing = {}) {
  LiveSet found;
  EXPECT_EQ(for_each_live_case(graph,
                               [&](const LiveCase& at) {
                                 const std::vector<std::int64_t> weights(at.live.values.size(), 8);
                                 LiveSetWork work = 10'000;
                                 found = largest_live_set(at.program, at.walk, at.live, weights,
                                                          sharing, work);
                               }),
            1U);
  return found;
}

testing::PlanJson graph_of_ops(std::size_t tensors, testing::PlanJson ops) {
  testing::PlanJson graph = {{"memverify", 1},
                             {"pools", {{{"id", "p"}}}},
                             {"queues", {{{"id", "q0"}}, {{"id", "q1"}}}},
                             {"ops", std::move(ops)}};
  for (std::size_t k = 0; k < tensors; ++k) {
    graph["tensors"].push_back({{"id", "t" + std::to_string(k)}, {"bytes", 8}});
  }
  return graph;
}

TEST(LiveSet, IsOfAnyRunAndNotOfTheGreedyOne) {
  // In program order t0 is dead before t1 is written; on two queues both may be alive.
  const LiveSet found =
      live_set_of(graph_of_ops(2, {{{"id", "w0"}, {"queue", "q0"}, {"writes", {"t0"}}},
                                   {{"id", "r0"}, {"queue", "q0"}, {"reads", {"t0"}}},
                                   {{"id", "w1"}, {"queue", "q1"}, {"writes", {"t1"}}},
                                   {{"id", "r1"}, {"queue", "q1"}, {"reads", {"t1"}}}}));
  EXPECT_EQ(found.bytes, 16);
  EXPECT_EQ(found.at_most, 16);
}

TEST(LiveSet, CountsWhatIsTakenOverOnce) {
  const testing::PlanJson graph =
      graph_of_ops(2, {{{"id", "load"}, {"queue", "q0"}, {"writes", {"t0"}}},
                       {{"id", "relu"}, {"queue", "q0"}, {"reads", {"t0"}}, {"writes", {"t1"}}},
                       {{"id", "use"}, {"queue", "q0"}, {"reads", {"t1"}}}});
  EXPECT_EQ(live_set_of(graph).bytes, 16);
  EXPECT_EQ(live_set_of(graph, {{0, 1}}).bytes, 8);
}

TEST(LiveSet, SaysWhenItIsOnlyAtLeast) {
  // Nine values that end on both queues: too many ways to keep them alive to try all.
  testing::PlanJson ops = testing::PlanJson::array();
  for (std::size_t k = 0; k < 9; ++k) {
    const std::string n = std::to_string(k);
    ops.push_back({{"id", "w" + n}, {"queue", "q0"}, {"writes", {"t" + n}}});
    ops.push_back({{"id", "r" + n}, {"queue", "q0"}, {"reads", {"t" + n}}});
    ops.push_back({{"id", "s" + n}, {"queue", "q1"}, {"reads", {"t" + n}}, {"after", {"w" + n}}});
  }
  const LiveSet found = live_set_of(graph_of_ops(9, ops));
  EXPECT_EQ(found.bytes, 72);  // q1 may lag behind as long as it likes.
  ops.push_back({{"id", "w"}, {"queue", "q0"}, {"writes", {"t9"}}, {"after", {"s8"}}});
  const LiveSet other = live_set_of(graph_of_ops(10, ops));
  EXPECT_EQ(other.bytes, 72);
  EXPECT_EQ(other.at_most, 80);
}

}  // namespace
}  // namespace memverify
