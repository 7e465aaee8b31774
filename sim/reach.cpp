#include "sim/reach.h"

#include <algorithm>

namespace memverify::sim {

Reach::Reach(const Setting& setting)
    : plan_(setting.plan),
      layout_(setting.layout),
      program_(setting.program),
      one_for_all_(sim::one_for_all(setting.plan)) {
  for (const OpId id : ids(plan_.ops)) {
    const Op& op = plan_.ops[id];
    if (op.kind == OpKind::kAlloc || (op.kind == OpKind::kUnknown && op.accesses.empty())) {
      always_.push_back(id);
    } else if (op.kind == OpKind::kOp || op.kind == OpKind::kUnknown) {
      for (const Access& access : plan_.accesses_of(op)) add_hulls(id, access);
    }
  }
  for (auto& [pool, hulls] : hulls_) {
    std::ranges::sort(hulls, {}, [](const Hull& hull) { return hull.bytes.begin; });
    std::int64_t furthest = hulls.front().bytes.end;
    for (Hull& hull : hulls) hull.furthest = furthest = std::max(furthest, hull.bytes.end);
  }
}

void Reach::add_hulls(OpId op, const Access& access) {
  if (access.tensor == kNone<TensorId>) {
    const Region region = layout_.access_region(plan_, access, 0);
    hulls_[region.pool()].push_back({.bytes = region.hull(), .op = op});
    return;
  }
  const StorageId storage = plan_.tensors[access.tensor].storage;
  const ByteRange hull = layout_.tensor(access.tensor).hull;
  std::vector<Hull>& hulls = hulls_[layout_.storage(storage).pool];
  for (std::uint32_t slot = 0; slot < plan_.storages[storage].slots.size(); ++slot) {
    const std::int64_t at = layout_.slot_address(storage, slot);
    hulls.push_back({.bytes = {at + hull.begin, at + hull.end}, .op = op});
  }
}

std::vector<CommandId> Reach::commands_in(const Window& window) const {
  std::vector<OpId> ops = always_;
  if (const auto pool = hulls_.find(window.pool); pool != hulls_.end()) {
    const std::vector<Hull>& hulls = pool->second;
    auto at = std::ranges::lower_bound(hulls, window.bytes.end, {},
                                       [](const Hull& hull) { return hull.bytes.begin; });
    while (at != hulls.begin() && (at - 1)->furthest > window.bytes.begin) {
      --at;
      if (at->bytes.end > window.bytes.begin) ops.push_back(at->op);
    }
  }
  std::ranges::sort(ops);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  std::vector<CommandId> commands;
  for (std::int64_t i = 0; i < program_.unrolled; ++i) {
    for (const OpId op : ops) {
      const CommandId c = program_.find(op, i);
      if (c != kNone<CommandId>) commands.push_back(c);
    }
  }
  return commands;
}

}  // namespace memverify::sim
