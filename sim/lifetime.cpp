#include "sim/lifetime.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace memverify::sim {
namespace {

class LifetimeFinder {
 public:
  LifetimeFinder(const Setting& setting, const ByteMap& map)
      : plan_(setting.plan), layout_(setting.layout), program_(setting.program), map_(map) {
    allocated_.resize(plan_.storages.size(), 0);
    freed_.resize(plan_.storages.size(), 0);
    for (const Op& op : plan_.ops) {
      if (op.kind == OpKind::kAlloc) allocated_[op.storage] = 1;
      if (op.kind == OpKind::kFree) freed_[op.storage] = 1;
    }
    for (CommandId c : ids(program_.commands)) {
      const Op& op = op_of(c);
      if (is_lifetime(c)) {
        slots_[key(op.storage, program_.commands[c].iteration)].push_back(c);
      }
    }
  }

  Lifetimes find() {
    for (CommandId c : ids(program_.commands)) {
      if (is_lifetime(c)) check_bracket(c, op_of(c));
      for (const Touch& touch : map_.touches_of(c)) check_access(c, touch);
    }
    for (const EndRead& read : map_.end_reads) check_end(read);
    std::ranges::stable_sort(out_.checks, {}, &LifetimeCheck::at);
    return std::move(out_);
  }

 private:
  const Op& op_of(CommandId c) const { return plan_.ops[program_.commands[c].op]; }
  /// One that is passed leaves its storage alone.
  bool is_lifetime(CommandId c) const {
    const OpKind kind = op_of(c).kind;
    return (kind == OpKind::kAlloc || kind == OpKind::kFree) && !program_.commands[c].passed;
  }
  bool is_alloc(CommandId c) const { return op_of(c).kind == OpKind::kAlloc; }
  std::uint64_t key(StorageId storage, std::int64_t instance) const {
    return ByteMap::slot_key(storage, layout_.slot_index(storage, instance));
  }
  const std::vector<CommandId>& bracket(StorageId storage, std::int64_t instance) const {
    static const std::vector<CommandId> kEmpty;
    const auto found = slots_.find(key(storage, instance));
    return found == slots_.end() ? kEmpty : found->second;
  }

  void always(CommandId at, CommandId blame, LifetimeCheck check) {
    check.at = check.other = at;
    check.blame = blame;
    out_.checks.push_back(check);
  }
  void unless_done(CommandId at, CommandId other, LifetimeCheck check) {
    check.at = at;
    check.other = check.blame = other;
    check.to = Phase::kOpen;
    out_.checks.push_back(check);
  }

  /// An alloc needs the free before it done, a free the alloc before it.
  void check_bracket(CommandId c, const Op& op) {
    const std::int64_t iteration = program_.commands[c].iteration;
    const std::vector<CommandId>& all = bracket(op.storage, iteration);
    const LifetimeCheck check{.storage = op.storage, .instance = iteration};
    const auto at = std::ranges::lower_bound(all, c);
    if (at == all.begin()) {
      if (!is_alloc(c) && allocated_[op.storage] != 0) always(c, kNone<CommandId>, check);
      return;
    }
    const CommandId before = *(at - 1);
    if (is_alloc(before) == is_alloc(c)) {
      always(c, before, check);
    } else {
      unless_done(c, before, check);
    }
  }

  void check_access(CommandId c, const Touch& touch) {
    if (touch.access == Touch::kEverything) return;
    const TensorId tensor = plan_.accesses[touch.access].tensor;
    if (tensor == kNone<TensorId>) return;
    const StorageId storage = plan_.tensors[tensor].storage;
    if (allocated_[storage] == 0 && freed_[storage] == 0) return;
    const std::vector<CommandId>& all = bracket(storage, touch.instance);
    const LifetimeCheck check{.tensor = tensor, .storage = storage, .instance = touch.instance};
    auto open = std::ranges::lower_bound(all, c);
    while (open != all.begin() && !is_alloc(*(open - 1))) --open;
    if (open == all.begin() && allocated_[storage] != 0) {
      always(c, kNone<CommandId>, check);
    }
    if (open != all.begin()) unless_done(c, *(open - 1), check);
    const auto close = std::find_if(open, all.end(), [&](CommandId x) { return !is_alloc(x); });
    if (close == all.end()) return;
    LifetimeCheck late = check;
    late.at = c;
    late.other = late.blame = *close;
    late.from = Phase::kOpen;
    out_.checks.push_back(late);
    LifetimeCheck early = check;
    early.at = *close;
    early.other = early.blame = c;
    early.from = Phase::kOpen;  // An unknown command reaches on to the end of the plan ([S-36]).
    early.to = op_of(c).kind == OpKind::kUnknown ? Phase::kDone : Phase::kOpen;
    out_.checks.push_back(early);
  }

  void check_end(const EndRead& read) {
    if (map_.footprints[read.footprint].empty()) return;
    const StorageId storage = plan_.tensors[read.tensor].storage;
    const std::vector<CommandId>& all = bracket(storage, read.instance);
    auto open = all.end();
    while (open != all.begin() && !is_alloc(*(open - 1))) --open;
    if (open == all.begin() && allocated_[storage] != 0) {
      out_.dead_at_end.push_back({read.tensor, kNone<CommandId>, read.instance});
    }
    if (open != all.end()) out_.dead_at_end.push_back({read.tensor, *open, read.instance});
  }

  const Plan& plan_;
  const Layout& layout_;
  const Program& program_;
  const ByteMap& map_;
  Table<StorageId, std::uint8_t> allocated_;  ///< By the text of the plan ([S-33]).
  Table<StorageId, std::uint8_t> freed_;
  std::unordered_map<std::uint64_t, std::vector<CommandId>> slots_;  ///< Allocs and frees.
  Lifetimes out_;
};

}  // namespace

std::span<const LifetimeCheck> checks_of(const Lifetimes& lifetimes, CommandId c) {
  return std::span(std::ranges::lower_bound(lifetimes.checks, c, {}, &LifetimeCheck::at),
                   std::ranges::upper_bound(lifetimes.checks, c, {}, &LifetimeCheck::at));
}

Lifetimes find_lifetimes(const Setting& setting, const ByteMap& map) {
  return LifetimeFinder(setting, map).find();
}

}  // namespace memverify::sim
