#include <algorithm>

#include "planner/graph_clashes.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

bool is_seen(const Plan& plan, const Access& access) {
  const bool is_view =
      access.tensor != kNone<TensorId> && plan.tensors[access.tensor].root != access.tensor;
  return access.kind != AccessKind::kRead || !is_view;
}

}  // namespace

/// Happens-before decides, but only the reads that name a tensor itself count: those through its
/// views are forgotten, and it dies too early.
GraphClashes clashes_by_direct_users(const ApartPlan& apart, const GraphClashes& right) {
  if (!right.gap.empty()) return right;
  ApartPlan blind = apart;
  Plan& plan = blind.plan;
  plan.accesses.clear();
  for (const OpId id : ids(plan.ops)) {
    const auto begin = static_cast<std::uint32_t>(plan.accesses.size());
    for (const Access& access : apart.plan.accesses_of(apart.plan.ops[id])) {
      if (is_seen(plan, access)) plan.accesses.push_back(access);
    }
    plan.ops[id].accesses = {begin, static_cast<std::uint32_t>(plan.accesses.size())};
  }
  return find_graph_clashes(blind);
}

}  // namespace memverify
