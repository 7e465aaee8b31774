#include "planner/pool_limits.h"

#include <algorithm>
#include <numeric>

#include "plan/layout.h"
#include "planner/cases.h"

namespace memverify {
namespace {

void note_layout(const Plan& graph, const Layout& layout, PoolLimits& limits) {
  for (const PoolId pool : ids(graph.pools)) {
    const std::optional<Expr>& bytes = graph.pools[pool].bytes;
    if (!bytes) continue;
    std::optional<std::int64_t>& capacity = limits.capacity[index(pool)];
    capacity = std::min(capacity.value_or(layout.value(*bytes)), layout.value(*bytes));
  }
  for (const StorageId storage : ids(graph.storages)) {
    const auto slots = static_cast<std::int64_t>(graph.storages[storage].slots.size());
    std::int64_t& end = limits.fixed_end[index(graph.storages[storage].pool)];
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      end = std::max(end, layout.slot_address(storage, slot) + layout.storage(storage).bytes);
    }
  }
}

}  // namespace

PoolLimits pool_limits(const Plan& graph, const ApartPlan& apart) {
  PoolLimits limits;
  limits.alignment.resize(graph.tensors.size(), 1);
  for (const TensorId id : ids(graph.tensors)) {
    const std::int64_t own = graph.tensors[id].alignment;
    std::int64_t& all = limits.alignment[index(graph.tensors[id].root)];
    if (own > 0) all = std::lcm(all, own);
  }
  limits.capacity.resize(graph.pools.size());
  limits.fixed_end.assign(graph.pools.size(), 0);
  for (const Valuation& valuation : size_valuations(graph)) {
    const Result<Layout> layout = Layout::make(apart.plan, valuation);
    if (layout.ok()) note_layout(graph, layout.value(), limits);
  }
  return limits;
}

}  // namespace memverify
