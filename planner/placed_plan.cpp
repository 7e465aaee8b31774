#include "planner/placed_plan.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>

#include "plan/name_table.h"

namespace memverify {
namespace {

/// Adds names to those that a plan has. The plan must be given `owner` and end no earlier.
class MoreNames {
 public:
  explicit MoreNames(const Plan& plan) : both_(std::make_shared<Both>()) {
    both_->old = plan.names;
  }
  std::string_view store(std::string_view text) { return both_->fresh.store(text); }
  std::shared_ptr<const NameArena> owner() const { return {both_, &both_->fresh}; }

 private:
  struct Both {
    std::shared_ptr<const NameArena> old;
    NameArena fresh;
  };
  std::shared_ptr<Both> both_;
};

std::string free_name(std::string name, const std::unordered_set<std::string_view>& taken) {
  while (taken.contains(name)) name += "'";
  return name;
}

}  // namespace

Plan with_places(const Plan& plan, std::span<const Place> places) {
  Plan result = plan;
  MoreNames names(plan);
  std::unordered_set<std::string_view> taken;
  for (const Storage& storage : plan.storages) taken.insert(storage.name);
  for (const Place& place : places) {
    Tensor& root = result.tensors[place.root];
    Storage storage{.name = root.name, .pool = place.pool, .bytes = place.bytes};
    if (taken.contains(root.name)) {
      storage.name = names.store(free_name(std::string(root.name), taken));
    }
    taken.insert(storage.name);
    storage.slots.begin = static_cast<std::uint32_t>(result.exprs.size());
    result.exprs.insert(result.exprs.end(), place.slots.begin(), place.slots.end());
    storage.slots.end = static_cast<std::uint32_t>(result.exprs.size());
    root.placement = TensorKind::kRoot;
    root.storage = result.storages.push_back(storage);
    root.offset = place.element_0;
    root.pools = {};
    root.slots = 1;
  }
  for (Tensor& tensor : result.tensors) tensor.storage = result.tensors[tensor.root].storage;
  result.names = names.owner();
  return result;
}

Plan with_scratch_pool(const Plan& plan, PoolId& pool) {
  Plan result = plan;
  MoreNames names(plan);
  std::unordered_set<std::string_view> taken;
  for (const Pool& other : plan.pools) taken.insert(other.name);
  pool = result.pools.push_back({.name = names.store(free_name("unplaced", taken))});
  result.names = names.owner();
  return result;
}

std::vector<TensorId> unplaced_roots(const Plan& plan) {
  std::vector<TensorId> roots;
  for (const TensorId id : ids(plan.tensors)) {
    if (plan.tensors[id].placement == TensorKind::kUnplaced) roots.push_back(id);
  }
  return roots;
}

}  // namespace memverify
