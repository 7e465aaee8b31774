// tests/unit/planner/live_cases.h -- the values of random graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/reader.h"
#include "planner/apart.h"
#include "planner/cases.h"
#include "planner/graph_clashes.h"
#include "tests/support/graph.h"
#include "verify/verify.h"

namespace memverify {

struct LiveCase {
  const Program& program;
  const Walk& walk;
  const Order& order;
  const LiveValues& live;
};

/// Calls `visit` with the values of each case of the graph, if it is safe. Returns how often.
inline std::size_t for_each_live_case(const testing::PlanJson& json,
                                      const std::function<void(const LiveCase&)>& visit) {
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
    visit({program, run, order, live_values(program, run, order, *footprints, map, none)});
    ++cases;
  });
  return cases;
}

/// Small, or with every key of the format; not always safe.
inline testing::PlanJson random_graph(std::uint64_t seed) {
  return seed % 2 == 0 ? testing::random_small_graph(seed)
                       : testing::without_addresses(testing::random_plan(seed));
}

/// From 0 to 9, by value.
inline std::vector<std::int64_t> random_weights(const LiveValues& live, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<std::int64_t> weights;
  for (std::size_t v = 0; v < live.values.size(); ++v) weights.push_back(draw.between(0, 9));
  return weights;
}

}  // namespace memverify
