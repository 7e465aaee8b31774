#include "planner/pool_limits.h"

#include <algorithm>

#include "plan/layout.h"
#include "planner/cases.h"
#include "planner/family_alignment.h"

namespace memverify {
namespace {

void note_layout(const Plan& graph, const Layout& layout, PoolLimits& limits) {
  for (const PoolId pool : ids(graph.pools)) {
    const std::optional<Expr>& bytes = graph.pools[pool].bytes;
    if (!bytes) continue;
    std::optional<std::int64_t>& capacity = limits.capacity[index(pool)];
    capacity = std::min(capacity.value_or(layout.value(*bytes)), layout.value(*bytes));
  }
  std::vector<std::int64_t> bytes(graph.pools.size(), 0);
  for (const StorageId storage : ids(graph.storages)) {
    const auto slots = static_cast<std::int64_t>(graph.storages[storage].slots.size());
    bytes[index(graph.storages[storage].pool)] += slots * layout.storage(storage).bytes;
    std::int64_t& end = limits.fixed_end[index(graph.storages[storage].pool)];
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      end = std::max(end, layout.slot_address(storage, slot) + layout.storage(storage).bytes);
    }
  }
  for (std::size_t pool = 0; pool < bytes.size(); ++pool) {
    limits.fixed_bytes[pool] = std::max(limits.fixed_bytes[pool], bytes[pool]);
  }
}

}  // namespace

PoolLimits pool_limits(const Plan& graph, const ApartPlan& apart) {
  PoolLimits limits;
  limits.alignment = family_alignments(graph);
  limits.capacity.resize(graph.pools.size());
  limits.fixed_end.assign(graph.pools.size(), 0);
  limits.fixed_bytes.assign(graph.pools.size(), 0);
  for (const Valuation& valuation : size_valuations(graph)) {
    const Result<Layout> layout = Layout::make(apart.plan, valuation);
    if (layout.ok()) note_layout(graph, layout.value(), limits);
  }
  return limits;
}

}  // namespace memverify
