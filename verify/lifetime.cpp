#include "verify/lifetime.h"

#include <algorithm>

namespace memverify {
namespace {

class LifetimeChecker {
 public:
  LifetimeChecker(const Program& program, const Walk& walk, const Order& order,
                  const Footprints& footprints, std::uint64_t& pairs_checked)
      : program_(program),
        plan_(*program.plan),
        walk_(walk),
        order_(order),
        footprints_(footprints),
        pairs_checked_(pairs_checked) {}

  std::vector<LifetimeFault> run() {
    if (!program_.has_lifetimes) return {};
    list_events();
    for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
      const Instance& instance = program_.instances[cmd];
      if (instance.gate || instance.skipped) continue;
      const Op& op = program_.op(cmd);
      if (op.kind == OpKind::kAlloc || op.kind == OpKind::kFree) {
        ++seen_[footprints_.slot_of_storage(op.storage, instance.iteration)];
      } else if (walk_.completed[cmd]) {
        for (const AccessInstance& a : footprints_.of(cmd)) {
          if (a.tensor != kNone<TensorId>) check_access(a);
        }
      }
    }
    if (walk_.all_completed) {
      for (const AccessInstance& a : footprints_.at_end()) check_end(a);
    }
    return std::move(result_);
  }

 private:
  bool is_alloc(Cmd cmd) const { return program_.op(cmd).kind == OpKind::kAlloc; }

  /// True iff `a` completes before `b`, which starts in some run, does.
  bool before(Cmd a, Cmd b) {
    ++pairs_checked_;
    return walk_.completed[a] && order_.before(a, b);
  }

  void list_events() {
    needs_alloc_.assign(plan_.storages.size(), 0);
    for (const Op& op : plan_.ops) {
      if (op.kind == OpKind::kAlloc) needs_alloc_[index(op.storage)] = 1;
    }
    events_.resize(footprints_.slots());
    seen_.resize(footprints_.slots(), 0);
    for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
      const Instance& instance = program_.instances[cmd];
      if (instance.gate || instance.skipped) continue;
      const Op& op = program_.op(cmd);
      if (op.kind != OpKind::kAlloc && op.kind != OpKind::kFree) continue;
      auto& events = events_[footprints_.slot_of_storage(op.storage, instance.iteration)];
      const bool alive =
          events.empty() ? !needs_alloc_[index(op.storage)] : is_alloc(events.back());
      const bool wants_alive = op.kind == OpKind::kFree;
      if (walk_.completed[cmd]) check_event(cmd, op.storage, events, alive == wants_alive);
      events.push_back(cmd);
    }
  }

  void check_event(Cmd cmd, StorageId storage, const std::vector<Cmd>& events, bool alternates) {
    if (events.empty()) {
      if (!alternates) result_.push_back({.first = cmd, .storage = storage});
    } else if (!alternates || !before(events.back(), cmd)) {
      result_.push_back({.first = events.back(), .second = cmd, .storage = storage});
    }
  }

  void check_access(const AccessInstance& a) {
    const std::uint32_t slot = footprints_.slot(a.tensor, a.instance);
    const StorageId storage = plan_.tensors[a.tensor].storage;
    if (footprints_.runs(a).empty() || (events_[slot].empty() && !needs_alloc_[index(storage)]))
      return;
    const auto& events = events_[slot];
    // The latest alloc before the access in program order, and the next free after that alloc.
    std::size_t alloc = seen_[slot];
    while (alloc > 0 && !is_alloc(events[alloc - 1])) --alloc;
    if (alloc == 0 && needs_alloc_[index(storage)]) fault(a, kNoCmd, storage);
    if (alloc > 0 && !before(events[alloc - 1], a.cmd)) {
      fault(a, events[alloc - 1], storage);
    }
    std::size_t free = alloc;
    while (free < events.size() && is_alloc(events[free])) ++free;
    // An unknown command reaches on to the end of the plan ([S-36]).
    const bool reaches_on = program_.op(a.cmd).kind == OpKind::kUnknown;
    if (free < events.size() && walk_.completed[events[free]] &&
        (reaches_on || !before(a.cmd, events[free]))) {
      fault(a, events[free], storage);
    }
  }

  void fault(const AccessInstance& a, Cmd other, StorageId storage) {
    LifetimeFault f{.first = a.cmd, .second = other, .storage = storage, .tensor = a.tensor};
    if (other != kNoCmd && other < a.cmd) std::swap(f.first, f.second);
    result_.push_back(f);
  }

  void check_end(const AccessInstance& a) {
    const StorageId storage = plan_.tensors[a.tensor].storage;
    const auto& events = events_[footprints_.slot(a.tensor, a.instance)];
    if (footprints_.runs(a).empty()) return;
    if (events.empty() ? needs_alloc_[index(storage)] != 0 : !is_alloc(events.back())) {
      result_.push_back({.first = events.empty() ? kNoCmd : events.back(),
                         .storage = storage,
                         .tensor = a.tensor,
                         .at_end = true});
    }
  }

  const Program& program_;
  const Plan& plan_;
  const Walk& walk_;
  const Order& order_;
  const Footprints& footprints_;
  std::uint64_t& pairs_checked_;
  std::vector<std::vector<Cmd>> events_;   ///< By slot: allocs and frees in program order.
  std::vector<std::size_t> seen_;          ///< By slot: events before the current command.
  std::vector<std::uint8_t> needs_alloc_;  ///< By storage.
  std::vector<LifetimeFault> result_;
};

}  // namespace

std::vector<LifetimeFault> lifetime_faults(const Program& program, const Walk& walk,
                                           const Order& order, const Footprints& footprints,
                                           std::uint64_t& pairs_checked) {
  return LifetimeChecker(program, walk, order, footprints, pairs_checked).run();
}

}  // namespace memverify
