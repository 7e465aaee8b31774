// What must hold of inputs and constants by the text of the plan alone ([S-46], [S-34]): MV106
// where their own family writes them or others share their bytes, MV112 where their storage is
// alloc'ed.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "plan/faults_impl.h"

namespace memverify {
namespace {

/// An input or constant.
struct Boundary {
  TensorId tensor = kNone<TensorId>;
  bool constant = false;
  bool donated = false;
  bool output = false;
  OpId writer = kNone<OpId>;        ///< The first op that writes it through its family.
  const Access* written = nullptr;  ///< By this access.
};

std::vector<Boundary> boundary_of(const Plan& plan) {
  std::vector<char> donated(plan.tensors.size());
  std::vector<char> output(plan.tensors.size());
  for (const TensorId tensor : plan.donated) donated[index(tensor)] = 1;
  for (const Output& one : plan.outputs) output[index(one.tensor)] = 1;
  std::vector<Boundary> all;
  for (const TensorId tensor : plan.inputs) {
    all.push_back({.tensor = tensor,
                   .donated = donated[index(tensor)] != 0,
                   .output = output[index(tensor)] != 0});
  }
  for (const TensorId tensor : plan.constants) {
    all.push_back({.tensor = tensor, .constant = true});
  }
  return all;
}

/// Calls `visit(op, access)` for every access that is known to write a tensor's or a pool's bytes.
/// What an unknown op may write is not held against the plan ([S-37]).
template <typename Visit>
void for_each_write(const Plan& plan, Visit visit) {
  for (const OpId id : ids(plan.ops)) {
    if (plan.ops[id].kind != OpKind::kOp) continue;
    for (const Access& access : plan.accesses_of(plan.ops[id])) {
      if (writes(access)) visit(id, access);
    }
  }
}

/// Fills `writer` of each. Regions of one family are compared in one slot: an input holds its value
/// in every slot.
void find_writers(const Plan& plan, const Layout& layout, std::vector<Boundary>& all) {
  std::vector<char> in_family(plan.tensors.size());
  std::vector<char> in_storage(plan.storages.size());
  std::vector<SweepItem> items;  // Inputs and constants, then writes; a family stands for a pool.
  const auto add = [&](TensorId root, const Region& bytes, bool strong) {
    items.push_back({static_cast<PoolId>(index(root)), bytes.hull(), items.size(), strong});
  };
  for (const Boundary& one : all) {
    const TensorId root = plan.tensors[one.tensor].root;
    in_family[index(root)] = 1;
    in_storage[index(plan.tensors[root].storage)] = 1;
    add(root, layout.tensor_region(plan, one.tensor, 0), true);
  }
  struct Write {
    OpId op;
    const Access* access;
  };
  std::vector<Write> found;
  for_each_write(plan, [&](OpId id, const Access& access) {
    if (access.tensor == kNone<TensorId>) return;
    if (in_storage[index(layout.tensor(access.tensor).storage)] == 0) return;
    const TensorId root = plan.tensors[access.tensor].root;
    if (in_family[index(root)] == 0) return;
    found.push_back({id, &access});
    add(root, layout.access_region(plan, access, 0), false);
  });
  for_each_meeting_pair(items, [&](std::size_t a, std::size_t b) {
    if (std::max(a, b) < all.size()) return false;
    Boundary& one = all[std::min(a, b)];
    const Write& write = found[std::max(a, b) - all.size()];
    if (one.writer <= write.op) return false;  // kNone is the greatest id.
    if (layout.access_region(plan, *write.access, 0)
            .overlaps(layout.tensor_region(plan, one.tensor, 0))) {
      one.writer = write.op;
      one.written = write.access;
    }
    return false;
  });
}

void find_own_writes(FaultSearch& search, const std::vector<Boundary>& all) {
  for (const Boundary& one : all) {
    if (one.writer == kNone<OpId> || one.donated || one.output) continue;
    Finding& finding = search.add(FaultKind::kOwnWrite, Rule::kBoundary);
    finding.ops = {one.writer};
    finding.iteration = {first_iteration(search.plan, search.plan.ops[one.writer])};
    add_tensor(search.plan, one.tensor, finding);
    const TensorId written = one.written->tensor;
    if (written != one.tensor) add_tensor(search.plan, written, finding);
    const std::int64_t instance = finding.iteration[0] - std::int64_t{one.written->distance};
    const Region bytes = search.layout.tensor_region(search.plan, one.tensor, instance);
    finding.pool = bytes.pool();
    finding.bytes =
        bytes.first_overlap(search.layout.access_region(search.plan, *one.written, instance));
  }
}

/// Inputs and constants of different families that share bytes ([S-46]).
class SharedSearch {
 public:
  SharedSearch(FaultSearch& search, const std::vector<Boundary>& all)
      : search_(search), plan_(search.plan), all_(all), touched_(all.size()) {}

  void run() {
    place();
    if (!some_meet()) return;
    collect_writes();
    meet_writes(placed_, [&](std::size_t i, const Region& write) {
      const std::size_t boundary = placed_[i].boundary;
      touched_[boundary] = touched_[boundary] || placed_[i].bytes.overlaps(write);
    });
    find_pairs();
    meet_writes(pairs_, [&](std::size_t i, const Region& write) {
      pairs_[i].written = pairs_[i].written || writes_shared(pairs_[i], write);
    });
    report_pairs();
  }

 private:
  struct Placed {
    std::size_t boundary;
    Region bytes;
  };
  struct Pair {
    std::size_t a;  ///< In `all_`, a < b.
    std::size_t b;
    Region bytes;  ///< Of a; b's are `other`.
    Region other;
    ByteRange first;
    bool written;
  };

  /// In every slot, for an input holds its value in each.
  void place() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const StorageId storage = plan_.tensors[all_[i].tensor].storage;
      for (std::uint32_t slot = 0; slot < search_.layout.storage(storage).slots.size(); ++slot) {
        Region bytes = search_.layout.tensor_region(plan_, all_[i].tensor, slot);
        if (!bytes.empty()) placed_.push_back({i, std::move(bytes)});
      }
    }
  }

  /// True if the hulls of two families may meet.
  bool some_meet() const {
    std::vector<const Placed*> order;
    for (const Placed& one : placed_) order.push_back(&one);
    std::ranges::sort(order, {}, [](const Placed* one) {
      return std::pair(one->bytes.pool(), one->bytes.hull().begin);
    });
    const Placed* furthest = nullptr;
    for (const Placed* one : order) {
      if (furthest != nullptr && furthest->bytes.pool() == one->bytes.pool() &&
          one->bytes.hull().begin < furthest->bytes.hull().end) {
        return true;
      }
      furthest = one;
    }
    return false;
  }

  void collect_writes() {
    for_each_write(plan_, [&](OpId id, const Access& access) {
      const Op& op = plan_.ops[id];
      const std::int64_t slots =
          access.tensor == kNone<TensorId>
              ? 1
              : search_.layout.storage(plan_.tensors[access.tensor].storage).slots.size();
      const std::int64_t first = first_iteration(plan_, op);
      std::int64_t count = op.runs == Runs::kFirst ? 1 : slots;
      if (plan_.iterations) count = std::min(count, *plan_.iterations - first);
      for (std::int64_t i = first; i < first + count; ++i) {
        writes_.push_back(search_.layout.access_region(plan_, access, i - access.distance));
      }
    });
  }

  /// Calls `visit(i, write)` for each `items[i]` and each write whose hulls meet.
  template <typename Item, typename Visit>
  void meet_writes(const std::vector<Item>& items, Visit visit) {
    std::vector<SweepItem> sweep;
    for (const Item& item : items) {
      sweep.push_back({item.bytes.pool(), item.bytes.hull(), sweep.size(), true});
    }
    for (const Region& write : writes_) {
      sweep.push_back({write.pool(), write.hull(), sweep.size(), false});
    }
    for_each_meeting_pair<SweepPairs::kWeakWithStrong>(sweep, [&](std::size_t a, std::size_t b) {
      const auto [item, write] = std::minmax(a, b);
      visit(item, writes_[write - items.size()]);
      return false;
    });
  }

  /// Two constants matter only if something writes one of them.
  void find_pairs() {
    std::vector<SweepItem> items;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const std::size_t boundary = placed_[i].boundary;
      items.push_back({placed_[i].bytes.pool(), placed_[i].bytes.hull(), i,
                       !all_[boundary].constant || touched_[boundary]});
    }
    for_each_meeting_pair(items, [&](std::size_t x, std::size_t y) {
      if (placed_[x].boundary > placed_[y].boundary) std::swap(x, y);
      const std::size_t a = placed_[x].boundary;
      const std::size_t b = placed_[y].boundary;
      if (plan_.tensors[all_[a].tensor].root == plan_.tensors[all_[b].tensor].root) return false;
      const ByteRange first = placed_[x].bytes.first_overlap(placed_[y].bytes);
      if (first.empty()) return false;
      pairs_.push_back(
          {a, b, placed_[x].bytes, placed_[y].bytes, first, all_[a].donated || all_[b].donated});
      return false;
    });
  }

  static bool writes_shared(const Pair& pair, const Region& write) {
    return std::ranges::any_of(
        write.runs(), [&](ByteRange run) { return pair.bytes.clipped(run).overlaps(pair.other); });
  }

  /// Each pair once, though it may meet in several slots.
  void report_pairs() {
    std::map<std::pair<std::size_t, std::size_t>, Pair> pairs;
    for (const Pair& pair : pairs_) {
      Pair& kept = pairs.try_emplace({pair.a, pair.b}, pair).first->second;
      if (pair.written && !kept.written) kept = pair;
    }
    for (const auto& [ends, pair] : pairs) report(pair);
  }

  void report(const Pair& pair) {
    const bool constants = all_[pair.a].constant && all_[pair.b].constant;
    if (constants && !pair.written) return;
    Finding& finding = search_.add(pair.written ? FaultKind::kSharedWritten : FaultKind::kShared,
                                   pair.written ? Rule::kBoundary : Rule::kWarning);
    const auto names_first = [&](std::size_t i) { return all_[i].donated || touched_[i]; };
    const bool swap = names_first(pair.b) && !names_first(pair.a);
    add_tensor(plan_, all_[swap ? pair.b : pair.a].tensor, finding);
    add_tensor(plan_, all_[swap ? pair.a : pair.b].tensor, finding);
    finding.pool = pair.bytes.pool();
    finding.bytes = pair.first;
  }

  FaultSearch& search_;
  const Plan& plan_;
  const std::vector<Boundary>& all_;
  std::vector<bool> touched_;  // By boundary: something writes a byte of it.
  std::vector<Placed> placed_;
  std::vector<Region> writes_;
  std::vector<Pair> pairs_;
};

void find_allocated(FaultSearch& search, const std::vector<Boundary>& all) {
  const Plan& plan = search.plan;
  std::vector<OpId> alloc(plan.storages.size(), kNone<OpId>);
  for (const OpId id : ids(plan.ops)) {
    const Op& op = plan.ops[id];
    if (op.kind == OpKind::kAlloc && alloc[index(op.storage)] == kNone<OpId>) {
      alloc[index(op.storage)] = id;
    }
  }
  for (const Boundary& one : all) {
    const StorageId storage = plan.tensors[one.tensor].storage;
    if (alloc[index(storage)] == kNone<OpId>) continue;
    Finding& finding = search.add(FaultKind::kAllocated, Rule::kLifetime);
    finding.ops = {alloc[index(storage)]};
    finding.iteration = {0};
    add_tensor(plan, one.tensor, finding);
    const Region bytes = search.layout.tensor_region(plan, one.tensor, 0);
    finding.pool = bytes.pool();
    finding.bytes = bytes.hull();
  }
}

}  // namespace

void find_boundary_faults(FaultSearch& search) {
  std::vector<Boundary> all = boundary_of(search.plan);
  if (all.empty()) return;
  find_writers(search.plan, search.layout, all);
  find_own_writes(search, all);
  SharedSearch(search, all).run();
  find_allocated(search, all);
}

}  // namespace memverify
