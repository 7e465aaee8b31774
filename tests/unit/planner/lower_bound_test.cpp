#include "planner/lower_bound.h"

#include <gtest/gtest.h>

#include <functional>

#include "plan/reader.h"
#include "planner/apart.h"
#include "planner/cases.h"
#include "planner/clashes.h"
#include "planner/graph_clashes.h"
#include "tests/support/graph.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using testing::Draw;
using testing::PlanJson;

/// Calls `visit` with the values of each case of the graph, if it is safe. Returns how often.
std::size_t for_each_values(
    const PlanJson& json,
    const std::function<void(const LiveValues&, const Order&, const Walk&)>& visit) {
  const Result<Plan> graph = read_plan(json.dump(), "");
  std::size_t cases = 0;
  if (!graph.ok()) return cases;
  const Result<ApartPlan> apart = place_apart(graph.value());
  if (!apart.ok()) return cases;
  if (verify_happens_before(apart.value().plan, {}).verdict != Verdict::kSafe) return cases;
  BufferMap map = map_buffers(apart.value());
  const std::vector<std::uint8_t> none(apart.value().buffers.size(), 0);
  for_each_case(apart.value().plan, [&](const Program& program) {
    const Walk run = walk(program);
    const Order order(program, run);
    const std::optional<Footprints> footprints = Footprints::make(program, 10'000);
    if (!footprints || !order.is_known()) return;
    visit(live_values(program, run, order, *footprints, map, none), order, run);
    ++cases;
  });
  return cases;
}

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

std::vector<std::int64_t> random_weights(const LiveValues& live, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<std::int64_t> weights;
  for (std::size_t v = 0; v < live.values.size(); ++v) weights.push_back(draw.between(0, 9));
  return weights;
}

TEST(LowerBound, IsTheHeaviestSetOfAll) {
  std::size_t cases = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const bool small = seed % 2 == 0;
    const PlanJson json = small ? testing::random_small_graph(seed)
                                : testing::without_addresses(testing::random_plan(seed));
    cases += for_each_values(json, [&](const LiveValues& live, const Order& order, const Walk&) {
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
