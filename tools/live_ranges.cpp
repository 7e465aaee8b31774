#include "tools/live_ranges.h"

#include <algorithm>
#include <map>

#include "sim/bytes.h"

namespace memverify {
namespace {

using sim::Command;
using sim::CommandId;

constexpr std::uint32_t kNoRange = 0xFFFFFFFFU;

/// Finds the ranges, access by access.
class RangeMaker {
 public:
  RangeMaker(const Plan& plan, const DrawnRun& run)
      : plan_(plan), run_(run), one_for_all_(sim::one_for_all(plan)) {
    newest_.resize(plan.tensors.size(), kNoRange);
    newest_view_.resize(plan.tensors.size(), kNoRange);
    donated_.resize(plan.tensors.size(), 0);
    for (const TensorId tensor : plan.donated) donated_[plan.tensors[tensor].root] = 1;
  }

  void make(DrawnMemory& memory) {
    for (const TensorId tensor : plan_.inputs) give(tensor, donated_[root_of(tensor)] == 0);
    for (const TensorId tensor : plan_.constants) give(tensor, true);
    for (const CommandId c : ids(run_.program.commands)) {
      const Command& command = run_.program.commands[c];
      if (run_.spans[c].start < 0 || command.passed) continue;
      for (const Access& access : plan_.accesses_of(plan_.ops[command.op])) use(c, access);
    }
    for (const Output& output : plan_.outputs) keep(root_of(output.tensor));
    memory.ranges = std::move(ranges_);
    memory.views = std::move(views_);
  }

 private:
  TensorId root_of(TensorId tensor) const { return plan_.tensors[tensor].root; }

  void give(TensorId tensor, bool is_kept) {
    const TensorId root = root_of(tensor);
    DrawnRange& range = ranges_[index_of(root, 0)];
    range.start = range.counted_from = 0;
    range.is_given = true;
    if (is_kept) keep_range(range);
  }

  void keep(TensorId root) {
    if (newest_[root] == kNoRange) return;
    std::uint32_t last = newest_[root];
    for (std::uint32_t k = last; k != kNoRange; k = older_[k]) {
      if (ranges_[k].instance > ranges_[last].instance) last = k;
    }
    keep_range(ranges_[last]);
  }
  void keep_range(DrawnRange& range) const {
    range.is_kept = true;
    range.end = std::max(range.end, run_.end);
  }

  void use(CommandId c, const Access& access) {
    const Command& command = run_.program.commands[c];
    const DrawnSpan span = run_.spans[c];
    const std::int64_t end = span.end < 0 ? run_.end : span.end;
    if (access.tensor == kNone<TensorId>) {
      const Region bytes = run_.layout.access_region(plan_, access, 0);
      ranges_.push_back({.op = command.op,
                         .instance = command.iteration,
                         .pool = access.pool,
                         .bytes = bytes.hull(),
                         .start = span.start,
                         .end = end,
                         .counted_from = span.start});
      older_.push_back(kNoRange);
      return;
    }
    const TensorId root = root_of(access.tensor);
    const std::int64_t instance =
        one_for_all_[root] != 0 ? 0 : std::int64_t{command.iteration} - access.distance;
    const std::size_t before = ranges_.size();
    const std::uint32_t at = index_of(root, instance);
    DrawnRange& range = ranges_[at];
    if (ranges_.size() > before) {
      range.start = span.start;
      range.counted_from = is_made_in_place(command.op, root) ? end : span.start;
    }
    if (span.start < range.start) range.start = range.counted_from = span.start;
    range.end = std::max(range.end, end);
    if (access.tensor != root) use_view(access.tensor, at, span.start, end);
  }

  void use_view(TensorId tensor, std::uint32_t range, std::int64_t start, std::int64_t end) {
    std::uint32_t& newest = newest_view_[tensor];
    if (newest == kNoRange || views_[newest].range != range) {
      const std::int64_t slot =
          ranges_[range].bytes.begin - run_.layout.tensor(ranges_[range].root).hull.begin;
      const ByteRange inside = run_.layout.tensor(tensor).hull;
      const ByteRange bytes{slot + inside.begin, slot + inside.end};
      if (bytes.empty() || bytes == ranges_[range].bytes) return;
      newest = static_cast<std::uint32_t>(views_.size());
      views_.push_back(
          {.tensor = tensor, .range = range, .bytes = bytes, .start = start, .end = end});
    }
    DrawnView& view = views_[newest];
    view.start = std::min(view.start, start);
    view.end = std::max(view.end, end);
  }

  /// Whether the op may write a tensor of the family over one that it reads.
  bool is_made_in_place(OpId op, TensorId root) const {
    return std::ranges::any_of(plan_.in_place_of(plan_.ops[op]), [&](const InPlace& pair) {
      return root_of(pair.written) == root && root_of(pair.read) != root;
    });
  }

  std::uint32_t index_of(TensorId root, std::int64_t instance) {
    for (std::uint32_t k = newest_[root]; k != kNoRange; k = older_[k]) {
      if (ranges_[k].instance == instance) return k;
    }
    const StorageId storage = plan_.tensors[root].storage;
    const std::int64_t slot = run_.layout.slot_address(storage, instance);
    const ByteRange inside = run_.layout.tensor(root).hull;
    older_.push_back(newest_[root]);
    newest_[root] = static_cast<std::uint32_t>(ranges_.size());
    ranges_.push_back({.root = root,
                       .instance = instance,
                       .pool = plan_.storages[storage].pool,
                       .bytes = {slot + inside.begin, slot + inside.end}});
    return newest_[root];
  }

  const Plan& plan_;
  const DrawnRun& run_;
  Table<TensorId, std::uint8_t> one_for_all_, donated_;
  std::vector<DrawnRange> ranges_;
  std::vector<DrawnView> views_;
  Table<TensorId, std::uint32_t> newest_;       ///< By root: its range that was found last.
  Table<TensorId, std::uint32_t> newest_view_;  ///< By view, likewise.
  std::vector<std::uint32_t> older_;  ///< By range: the one found before, of the same root.
};

std::int64_t size_of(ByteRange bytes) { return bytes.empty() ? 0 : bytes.end - bytes.begin; }

/// Bytes that hold a kept value all the time; given values may lie on each other.
std::int64_t union_size(std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  std::int64_t sum = 0;
  std::int64_t covered = ranges.empty() ? 0 : ranges.front().begin;
  for (const ByteRange& range : ranges) {
    covered = std::max(covered, range.begin);
    if (range.end > covered) sum += range.end - covered;
    covered = std::max(covered, range.end);
  }
  return sum;
}

void add_curves(const std::vector<DrawnRange>& ranges, Table<PoolId, PoolFigures>& pools) {
  struct Change {
    std::int64_t time, bytes;
  };
  Table<PoolId, std::vector<Change>> changes;
  Table<PoolId, std::vector<ByteRange>> always;
  changes.resize(pools.size());
  always.resize(pools.size());
  for (const DrawnRange& range : ranges) {
    if (range.bytes.empty() || range.pool == kNone<PoolId>) continue;
    if (range.is_given && range.is_kept) {
      always[range.pool].push_back(range.bytes);
    } else if (range.counted_from < range.end) {
      changes[range.pool].push_back({range.counted_from, size_of(range.bytes)});
      changes[range.pool].push_back({range.end, -size_of(range.bytes)});
    }
  }
  for (const PoolId pool : ids(pools)) {
    PoolFigures& figures = pools[pool];
    std::int64_t alive = union_size(always[pool]);
    figures.live_set = alive;
    figures.curve.emplace_back(0, alive);
    std::ranges::sort(changes[pool], {}, &Change::time);
    const std::vector<Change>& all = changes[pool];
    for (std::size_t k = 0; k < all.size();) {
      const std::int64_t time = all[k].time;
      for (; k < all.size() && all[k].time == time; ++k) alive += all[k].bytes;
      if (figures.curve.back().first == time) figures.curve.pop_back();
      figures.curve.emplace_back(time, alive);
      if (alive > figures.live_set) {
        figures.live_set = alive;
        figures.live_at = time;
      }
    }
  }
}

/// Who had the bytes of each range before it.
std::vector<std::pair<std::uint32_t, std::uint32_t>> find_reuse(
    const std::vector<DrawnRange>& ranges, std::size_t pools) {
  struct Owner {
    std::int64_t end;
    std::uint32_t range;
  };
  std::vector<std::uint32_t> order;
  for (std::uint32_t k = 0; k < ranges.size(); ++k) {
    if (!ranges[k].bytes.empty() && index(ranges[k].pool) < pools) order.push_back(k);
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t k) { return ranges[k].start; });
  std::vector<std::map<std::int64_t, Owner>> owners(pools);  // By first byte; disjoint.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reuse;
  for (const std::uint32_t k : order) {
    std::map<std::int64_t, Owner>& map = owners[index(ranges[k].pool)];
    const ByteRange bytes = ranges[k].bytes;
    auto at = map.upper_bound(bytes.begin);
    if (at != map.begin() && std::prev(at)->second.end > bytes.begin) --at;
    std::vector<std::uint32_t> before;
    while (at != map.end() && at->first < bytes.end) {
      const auto [begin, owner] = *at;
      before.push_back(owner.range);
      at = map.erase(at);
      if (begin < bytes.begin) map.emplace(begin, Owner{bytes.begin, owner.range});
      if (owner.end > bytes.end) map.emplace(bytes.end, owner);
    }
    map.emplace(bytes.begin, Owner{bytes.end, k});
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const std::uint32_t other : before) reuse.emplace_back(other, k);
  }
  return reuse;
}

/// The storages that something lies in: where they end, and what they would take apart.
void add_sizes(const Plan& plan, const Layout& layout, Table<PoolId, PoolFigures>& pools) {
  for (const PoolId id : ids(plan.pools)) {
    if (plan.pools[id].bytes) pools[id].capacity = layout.value(*plan.pools[id].bytes);
    if (plan.pools[id].peak_bytes) pools[id].claimed = layout.value(*plan.pools[id].peak_bytes);
  }
  for (const StorageId id : ids(plan.storages)) {
    const StorageLayout& storage = layout.storage(id);
    PoolFigures& figures = pools[storage.pool];
    for (std::uint32_t slot = 0; slot < storage.slots.size(); ++slot) {
      figures.peak = std::max(figures.peak, layout.slot_address(id, slot) + storage.bytes);
    }
  }
  for (const TensorId id : ids(plan.tensors)) {
    const Tensor& tensor = plan.tensors[id];
    if (tensor.root != id) continue;
    const StorageLayout& storage = layout.storage(tensor.storage);
    pools[storage.pool].total += size_of(layout.tensor(id).hull) * storage.slots.size();
  }
}

}  // namespace

DrawnMemory drawn_memory(const Plan& plan, const DrawnRun& run) {
  DrawnMemory memory;
  RangeMaker(plan, run).make(memory);
  memory.pools.resize(plan.pools.size());
  add_sizes(plan, run.layout, memory.pools);
  add_curves(memory.ranges, memory.pools);
  memory.reuse = find_reuse(memory.ranges, plan.pools.size());
  return memory;
}

}  // namespace memverify
