#include "planner/graph_clashes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "plan/layout.h"
#include "planner/cases.h"
#include "planner/clashes.h"
#include "planner/handoff.h"
#include "planner/ordered_values.h"
#include "planner/whole_values.h"

namespace memverify {
namespace {

constexpr std::size_t kMostCellRuns = std::size_t{1} << 22;
constexpr std::size_t kManyValues = 1000;
constexpr std::size_t kUnsortedClashes = std::size_t{1} << 20;

auto order_of(const Clash& c) {
  return std::tuple(c.first, c.second, c.of_first.begin, c.of_first.end, c.of_second.begin,
                    c.of_second.end);
}

void sort_unique(std::vector<Clash>& clashes) {
  std::ranges::sort(clashes, {}, order_of);
  clashes.erase(
      std::unique(clashes.begin(), clashes.end(),
                  [](const Clash& a, const Clash& b) { return order_of(a) == order_of(b); }),
      clashes.end());
}

auto handoff_order(const Handoff& h) { return std::tuple(order_of(h.clash), h.delta); }

/// False only when no byte has a fixed place.
bool has_fixed_places(const ApartPlan& apart) {
  return std::ranges::any_of(
             apart.plan.storages,
             [&](const Storage& storage) { return storage.pool != apart.scratch; }) ||
         std::ranges::any_of(apart.plan.accesses,
                             [](const Access& access) { return access.tensor == kNone<TensorId>; });
}

class ClashCollector {
 public:
  ClashCollector(const ApartPlan& apart, const CaseVisit& visit)
      : apart_(apart), visit_(visit), map_(map_buffers(apart)) {
    by_boundary_ = permanent_buffers(apart);
    result_.permanent = by_boundary_;
    result_.used.assign(apart.buffers.size(), 0);
    for (const GraphBuffer& buffer : apart.buffers) roots_.push_back(buffer.root);
    result_.live_ranges.resize(apart.buffers.size());
  }

  GraphClashes run() {
    result_.whole = has_many_valuations(apart_.plan) && whole_values_apply(apart_);
    std::string gap = for_each_case(
        apart_.plan, [&](const Program& program) { look(program); }, result_.whole);
    if (result_.gap.empty()) result_.gap = std::move(gap);
    if (!result_.gap.empty()) note_all_fixed_places();
    keep_inputs_apart();
    sort_unique(result_.clashes);
    auto& handoffs = result_.handoffs;
    std::ranges::sort(handoffs, {}, handoff_order);
    handoffs.erase(std::unique(handoffs.begin(), handoffs.end(),
                               [](const Handoff& a, const Handoff& b) {
                                 return handoff_order(a) == handoff_order(b);
                               }),
                   handoffs.end());
    result_.fixed.assign(map_.fixed().begin(), map_.fixed().end());
    return std::move(result_);
  }

 private:
  /// Where inputs and constants lie that have a place, under any symbol values.
  std::vector<std::pair<BufferIndex, ByteRange>> fixed_inputs() {
    const Plan& plan = apart_.plan;
    std::vector<std::pair<BufferIndex, ByteRange>> found;
    if (!has_fixed_places(apart_)) return found;
    for (const Valuation& valuation : size_valuations(plan)) {
      const Result<Layout> layout = Layout::make(plan, valuation);
      if (!layout.ok()) continue;
      for (const auto* boundary : {&plan.inputs, &plan.constants}) {
        for (const TensorId tensor : *boundary) {
          const Storage& storage = plan.storages[plan.tensors[tensor].storage];
          if (storage.pool == apart_.scratch) continue;
          for (std::uint32_t slot = 0; slot < storage.slots.size(); ++slot) {
            const Region region = layout.value().tensor_region(plan, tensor, slot);
            for (ByteRange run : region.runs()) {
              const BufferIndex fixed = map_.find(region.pool(), run);
              found.emplace_back(fixed, run);
            }
          }
        }
      }
    }
    return found;
  }

  /// Whoever does not know the order keeps away from all that has a place, under any symbol values.
  void note_all_fixed_places() {
    const Plan& plan = apart_.plan;
    std::map<std::pair<PoolId, std::size_t>, ByteRange> hulls;  // A number for each place.
    for (const Valuation& valuation : size_valuations(plan)) {
      const Result<Layout> layout = Layout::make(plan, valuation);
      if (!layout.ok()) continue;
      std::size_t number = 0;
      const auto widen = [&](PoolId pool, ByteRange bytes) {
        const auto [at, is_new] = hulls.try_emplace({pool, number++}, bytes);
        if (is_new || bytes.empty()) return;
        at->second = {std::min(at->second.begin, bytes.begin), std::max(at->second.end, bytes.end)};
      };
      for (const StorageId id : ids(plan.storages)) {
        const Storage& storage = plan.storages[id];
        for (std::uint32_t slot = 0; slot < storage.slots.size(); ++slot) {
          const std::int64_t at = layout.value().slot_address(id, slot);
          widen(storage.pool, {at, at + layout.value().storage(id).bytes});
        }
      }
      for (const Access& access : plan.accesses) {
        if (access.tensor != kNone<TensorId>) continue;
        const Region region = layout.value().access_region(plan, access, 0);
        widen(access.pool, region.empty() ? ByteRange{} : region.hull());
      }
    }
    for (auto& [place, bytes] : hulls) {
      if (place.first != apart_.scratch && !bytes.empty()) map_.find(place.first, bytes);
    }
  }

  /// Inputs and constants lie apart even where nobody reads them.
  void keep_inputs_apart() {
    const Plan& plan = apart_.plan;
    std::vector<std::uint8_t> initial(plan.tensors.size(), 0);
    for (const auto* boundary : {&plan.inputs, &plan.constants}) {
      for (const TensorId tensor : *boundary) initial[index(plan.tensors[tensor].root)] = 1;
    }
    std::vector<BufferIndex> buffers;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (initial[index(apart_.buffers[b].root)] == 0 || result_.permanent[b] != 0) continue;
      result_.used[b] = apart_.buffers[b].bytes;
      if (apart_.buffers[b].bytes > 0) buffers.push_back(b);
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      for (std::size_t j = i + 1; j < buffers.size(); ++j) {
        result_.clashes.push_back({buffers[i],
                                   buffers[j],
                                   {0, apart_.buffers[buffers[i]].bytes},
                                   {0, apart_.buffers[buffers[j]].bytes}});
      }
    }
    for (const auto& [fixed, bytes] : fixed_inputs()) {
      for (const BufferIndex b : buffers) {
        result_.clashes.push_back({b, fixed, {0, apart_.buffers[b].bytes}, bytes});
      }
    }
  }

  void look(const Program& program) {
    const Walk run = walk(program);
    const Order order(program, run);
    const std::optional<Footprints> footprints = Footprints::make(program, kMostCellRuns);
    if (!program.contended.empty() || !order.is_known()) {
      result_.gap = "clocks do not decide the order of its ops";
    } else if (!footprints) {
      result_.gap = "the strided tensors have too many runs of bytes";
    }
    if (!result_.gap.empty()) return;
    const LiveValues live = live_values(program, run, order, *footprints, map_, by_boundary_);
    std::optional<LiveValues> listed;  // If not all of them.
    if (result_.whole) {
      listed = whole_values(apart_, program, run, order, by_boundary_);
      if (!listed) result_.gap = "an op may touch anything, and the symbols have too many values";
      if (!listed) return;
      note_used(*listed);
    } else {
      note_used(live);
      if (std::exchange(is_first_, false)) mark_side_by_side(live, order);
      if (result_.permanent != by_boundary_) {
        listed = live_values(program, run, order, *footprints, map_, result_.permanent);
      }
    }
    const LiveValues& all = listed ? *listed : live;
    for_each_clash(all, order, run, [&](std::uint32_t a, std::uint32_t b) {
      add(program, order, all, all.values[a], all.values[b]);
    });
    for (const LiveValue& value : all.values) note_range(program, run, all, value);
    if (visit_) visit_({program, run, order, live, map_.fixed()});
  }

  /// Bytes with a value, by buffer.
  std::vector<std::int64_t> bytes_used(const LiveValues& live) const {
    std::vector<std::int64_t> used(apart_.buffers.size(), 0);
    for (std::uint32_t v = 0; v < live.values.size(); ++v) {
      const LiveValue& value = live.values[v];
      const bool is_again = v > 0 && live.values[v - 1].buffer == value.buffer &&
                            live.values[v - 1].bytes == value.bytes;
      const bool counts = value.buffer < used.size() && !is_again;
      if (counts) used[value.buffer] += value.bytes.end - value.bytes.begin;
    }
    return used;
  }

  void note_used(const LiveValues& live) {
    const std::vector<std::int64_t> used = bytes_used(live);
    for (BufferIndex b = 0; b < used.size(); ++b) {
      result_.used[b] = std::max(result_.used[b], used[b]);
    }
  }

  /// Of many values, what clashes with all bytes of all others, in the first case already, is as
  /// good as permanent, and saves lists of clashes.
  void mark_side_by_side(const LiveValues& live, const Order& order) {
    if (live.values.size() < kManyValues || has_fixed_places(apart_)) return;
    for (BufferIndex b = 0; b < result_.used.size(); ++b) {
      if (by_boundary_[b] == 0 && result_.used[b] < apart_.buffers[b].bytes) return;
    }
    std::vector<std::uint8_t> in_place(apart_.plan.tensors.size(), 0);
    for (const InPlace& pair : apart_.plan.in_places) {
      in_place[index(apart_.plan.tensors[pair.read].root)] = 1;
      in_place[index(apart_.plan.tensors[pair.written].root)] = 1;
    }
    std::vector<std::uint32_t> among(live.values.size());
    std::iota(among.begin(), among.end(), 0U);
    const OrderedValues ordered = ordered_values(live, order, among);
    for (const std::uint32_t v : among) {
      const LiveValue& value = live.values[v];
      const bool is_all = value.bytes == ByteRange{0, apart_.buffers[value.buffer].bytes};
      const bool is_ordered = ordered.ends[v] != 0 || ordered.follows[v] != 0;
      if (!is_all || is_ordered || in_place[index(roots_[value.buffer])] != 0) continue;
      result_.permanent[value.buffer] = 1;
    }
  }

  void add(const Program& program, const Order& order, const LiveValues& live, const LiveValue& a,
           const LiveValue& b) {
    if (a.buffer == b.buffer) return;
    const std::size_t movable = map_.movable();
    if (a.buffer >= movable && b.buffer >= movable) return;
    const Clash clash = a.buffer < b.buffer ? Clash{a.buffer, b.buffer, a.bytes, b.bytes}
                                            : Clash{b.buffer, a.buffer, b.bytes, a.bytes};
    const auto chance = in_place_chance(program, order, live, a, b, roots_);
    if (chance && (!result_.whole || pairs_are_alike(program, live, a, b))) {
      if (!chance->any) {
        result_.handoffs.push_back({clash, a.buffer < b.buffer ? chance->delta : -chance->delta});
      }
      return;
    }
    result_.clashes.push_back(clash);
    if (result_.clashes.size() < 2 * sorted_ + kUnsortedClashes) return;
    sort_unique(result_.clashes);
    sorted_ = result_.clashes.size();
  }

  /// What the op says of the two buffers, it says of whole tensors that are alike for all symbols.
  bool pairs_are_alike(const Program& program, const LiveValues& live, const LiveValue& a,
                       const LiveValue& b) const {
    const Plan& plan = apart_.plan;
    const Op& op = program.op(live.firsts(b).front());
    return std::ranges::all_of(plan.in_place_of(op), [&](const InPlace& pair) {
      const bool is_theirs = plan.tensors[pair.read].root == roots_[a.buffer] &&
                             plan.tensors[pair.written].root == roots_[b.buffer];
      return !is_theirs || surely_alike(plan, pair.read, pair.written);
    });
  }

  void note_range(const Program& program, const Walk& run, const LiveValues& live,
                  const LiveValue& value) {
    if (value.buffer >= map_.movable()) return;
    LiveRange& range = result_.live_ranges[value.buffer];
    std::int64_t begin = value.from_start ? 0 : std::int64_t{1} << 40;
    std::int64_t end =
        value.to_end ? static_cast<std::int64_t>(2 * program.instances.size() + 2) : 1;
    for (const Cmd cmd : live.firsts(value)) {
      begin = std::min<std::int64_t>(begin, run.started[cmd]);
    }
    for (const Cmd cmd : live.lasts(value)) {
      end = std::max<std::int64_t>(end, std::int64_t{run.completed[cmd]} + 1);
    }
    if (range == LiveRange{}) range = {begin, end};
    range = {std::min(range.begin, begin), std::max(range.end, end)};
  }

  const ApartPlan& apart_;
  const CaseVisit& visit_;
  BufferMap map_;
  std::vector<TensorId> roots_;
  std::size_t sorted_ = 0;
  bool is_first_ = true;
  std::vector<std::uint8_t> by_boundary_;
  GraphClashes result_;
};

}  // namespace

std::vector<std::uint8_t> permanent_buffers(const ApartPlan& apart) {
  const Plan& plan = apart.plan;
  std::vector<std::uint8_t> kept(plan.tensors.size(), 0);
  for (const TensorId tensor : plan.inputs) kept[index(tensor)] = 1;
  for (const TensorId tensor : plan.donated) kept[index(tensor)] = 0;
  for (const TensorId tensor : plan.constants) kept[index(tensor)] = 1;
  std::vector<std::uint8_t> result(apart.buffers.size(), 0);
  if (has_fixed_places(apart)) return result;
  for (BufferIndex b = 0; b < apart.buffers.size(); ++b) {
    result[b] = kept[index(apart.buffers[b].root)];
  }
  return result;
}

GraphClashes find_graph_clashes(const ApartPlan& apart, const CaseVisit& visit) {
  return ClashCollector(apart, visit).run();
}

BufferMap map_buffers(const ApartPlan& apart) {
  BufferMap map(apart.scratch);
  for (const GraphBuffer& buffer : apart.buffers) map.add(buffer.address);
  return map;
}

}  // namespace memverify
