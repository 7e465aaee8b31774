#include "planner/lower_bound.h"

#include <gtest/gtest.h>

#include <functional>

#include "planner/clashes.h"
#include "tests/unit/planner/live_cases.h"

namespace memverify {
namespace {

/// By trying every set.
std::int64_t heaviest_by_brute_force(const LiveValues& live, const Order& order,
                                     const std::vector<std::int64_t>& weights) {
  std::int64_t best = 0;
  std::vector<std::uint32_t> chosen;
  const std::function<void(std::uint32_t, std::int64_t)> choose = [&](std::uint32_t v,
                                                                      std::int64_t bytes) {
    best = std::max(best, bytes);
    if (v == weights.size()) return;
    const bool fits = std::ranges::none_of(chosen, [&](std::uint32_t other) {
      return ends_before(live, order, live.values[v], live.values[other]) ||
             ends_before(live, order, live.values[other], live.values[v]);
    });
    if (fits) {
      chosen.push_back(v);
      choose(v + 1, bytes + weights[v]);
      chosen.pop_back();
    }
    choose(v + 1, bytes);
  };
  choose(0, 0);
  return best;
}

TEST(LowerBound, IsTheHeaviestSetOfAll) {
  std::size_t cases = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    cases += for_each_live_case(random_graph(seed), [&](const LiveCase& at) {
      const LiveValues& live = at.live;
      const Order& order = at.order;
      if (live.values.size() > 14) return;
      const std::vector<std::int64_t> weights = random_weights(live, seed);
      const Antichain antichain = heaviest_antichain(live, order, weights, {});
      EXPECT_TRUE(holds(antichain, live, order, weights, {}));
      EXPECT_EQ(antichain.bytes, heaviest_by_brute_force(live, order, weights));
    });
  }
  EXPECT_GT(cases, 400U);
}

}  // namespace
}  // namespace memverify
