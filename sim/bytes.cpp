#include "sim/bytes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace memverify::sim {
namespace {

bool keeps_one_instance(const Access& access, const Op& op) {
  return access.kind == AccessKind::kRead || access.kind == AccessKind::kAccumulate ||
         op.runs == Runs::kFirst;
}

class Mapper {
 public:
  /// Of all commands, those that are not in `commands` touch nothing in the window.
  Mapper(const Setting& setting, const std::optional<Window>& window,
         std::span<const CommandId> commands, const Table<TensorId, std::uint8_t>& one_for_all,
         std::uint64_t limit)
      : plan_(setting.plan),
        layout_(setting.layout),
        program_(setting.program),
        window_(window),
        commands_(commands),
        limit_(limit) {
    map_.one_for_all = one_for_all;
  }

  Result<ByteMap> build() {
    add_touches();
    add_boundary();
    if (!cut()) {
      return Diagnostic{.id = "bytes.size",
                        .message = "the accesses consist of too many separate runs of bytes"};
    }
    for (auto& [value, footprint] : initial_) {
      for (CellId cell : map_.footprints[footprint]) {
        std::vector<InitialValue>& initial = map_.cells[cell].initial;
        if (std::ranges::find(initial, value) == initial.end()) initial.push_back(value);
      }
    }
    drop_untouched();
    record_histories();
    combine_effects();
    return std::move(map_);
  }

 private:
  /// What `c` has begins here, where `begins` of the commands before it that have nothing ends.
  static void begin(std::vector<std::uint32_t>& begins, CommandId c, std::size_t at) {
    begins.resize(std::size_t{index(c)} + 1, static_cast<std::uint32_t>(at));
  }

  /// Cheap and never wrong in saying that nothing of `tensor` lies in the window.
  bool outside_window(TensorId tensor, std::int64_t slot_address) const {
    if (!window_) return false;
    const Tensor& what = plan_.tensors[tensor];
    if (layout_.storage(what.storage).pool != window_->pool) return true;
    const ByteRange hull = layout_.tensor(tensor).hull;
    return slot_address + hull.end <= window_->bytes.begin ||
           slot_address + hull.begin >= window_->bytes.end;
  }

  std::uint32_t add_footprint(const Region& region) {
    const auto id = static_cast<std::uint32_t>(regions_.size());
    Region kept = region;
    if (window_) {
      kept = region.pool() == window_->pool ? region.clipped(window_->bytes) : Region();
    }
    runs_ += static_cast<std::uint64_t>(
        kept.count_runs(static_cast<std::int64_t>(std::min<std::uint64_t>(limit_, 1U << 30) + 1)));
    regions_.push_back(std::move(kept));
    return id;
  }

  /// The footprint of an access in the slot that `instance` uses; made when first asked for.
  std::uint32_t footprint_of(std::uint32_t access_index, std::int64_t instance) {
    const Access& access = plan_.accesses[access_index];
    const std::uint32_t slot =
        access.tensor == kNone<TensorId>
            ? 0
            : layout_.slot_index(plan_.tensors[access.tensor].storage, instance);
    const auto [known, is_new] =
        access_footprints_.try_emplace((std::uint64_t{access_index} << 32) | slot, kOutside);
    std::uint32_t& footprint = known->second;
    if (is_new) {
      const bool skip =
          access.tensor != kNone<TensorId> &&
          outside_window(access.tensor,
                         layout_.slot_address(plan_.tensors[access.tensor].storage, instance));
      footprint = skip ? kOutside : add_footprint(layout_.access_region(plan_, access, instance));
    }
    return footprint;
  }

  void add_touches() {
    for (CommandId c : commands_) {
      begin(map_.touch_begin, c, map_.touches.size());
      const Command& command = program_.commands[c];
      const Op& op = plan_.ops[command.op];
      if (command.passed) continue;
      if (op.kind == OpKind::kUnknown && op.accesses.empty()) {
        map_.touches.push_back({.kind = TouchKind::kOpaque, .footprint = kUnmade});
        has_everything_ = true;
      } else if (op.kind == OpKind::kOp || op.kind == OpKind::kUnknown) {
        for (std::uint32_t a = op.accesses.begin; a < op.accesses.end; ++a) {
          add_touch(op.kind == OpKind::kUnknown, a, command.iteration);
        }
      } else if (op.kind == OpKind::kAlloc) {
        map_.allocs[ByteMap::slot_key(op.storage,
                                      layout_.slot_index(op.storage, command.iteration))]
            .push_back(c);
      }
    }
    begin(map_.touch_begin, program_.commands.next_id(), map_.touches.size());
  }

  void add_touch(bool opaque, std::uint32_t access_index, std::int64_t iteration) {
    const Access& access = plan_.accesses[access_index];
    Touch touch{.access = access_index};
    if (access.tensor != kNone<TensorId>) {
      touch.instance =
          instance_of(plan_, map_, access.tensor, iteration - std::int64_t{access.distance});
    }
    touch.footprint = footprint_of(access_index, touch.instance);
    if (touch.footprint == kOutside) return;
    switch (access.kind) {
      case AccessKind::kRead:
        touch.kind = TouchKind::kRead;
        break;
      case AccessKind::kWrite:
        touch.kind = TouchKind::kWrite;
        break;
      case AccessKind::kClobber:
        touch.kind = TouchKind::kClobber;
        break;
      case AccessKind::kAccumulate:
        touch.kind = TouchKind::kAccumulate;
        touch.update = update_class(access.update, plan_.tensors[access.tensor].dtype);
        break;
    }
    if (opaque) touch.kind = TouchKind::kOpaque;
    map_.touches.push_back(touch);
  }

  std::uint32_t update_class(UpdateId update, DType dtype) {
    const auto next = static_cast<std::uint32_t>(updates_.size());
    return updates_.try_emplace({update, dtype}, next).first->second;
  }

  std::uint32_t slots_of(TensorId tensor) const {
    return plan_.storages[plan_.tensors[tensor].storage].slots.size();
  }

  /// Inputs, constants and outputs: initial values and reads at the end.
  void add_boundary() {
    const auto add = [&](TensorId tensor, bool must_survive) {
      for (std::uint32_t slot = 0; slot < slots_of(tensor); ++slot) {
        if (outside_window(tensor, layout_.slot_address(plan_.tensors[tensor].storage, slot))) {
          continue;
        }
        const std::uint32_t footprint = add_footprint(layout_.tensor_region(plan_, tensor, slot));
        initial_.push_back({{plan_.tensors[tensor].root, slot}, footprint});
        if (must_survive) {
          const bool is_output =
              std::ranges::find(plan_.outputs, tensor, &Output::tensor) != plan_.outputs.end();
          map_.end_reads.push_back({.tensor = tensor,
                                    .instance = slot,
                                    .footprint = footprint,
                                    .own_family_may_write = is_output});
        }
      }
    };
    for (TensorId tensor : plan_.constants) add(tensor, true);
    for (TensorId tensor : plan_.inputs) {
      const bool donated = std::ranges::find(plan_.donated, tensor) != plan_.donated.end();
      add(tensor, !donated);
    }
    for (const Output& output : plan_.outputs) {
      const std::int64_t instance =
          instance_of(plan_, map_, output.tensor, program_.iterations - 1);
      if (outside_window(output.tensor,
                         layout_.slot_address(plan_.tensors[output.tensor].storage, instance))) {
        continue;
      }
      map_.end_reads.push_back(
          {.tensor = output.tensor,
           .instance = instance,
           .footprint = add_footprint(layout_.tensor_region(plan_, output.tensor, instance)),
           .output = &output});
    }
  }

  /// Cuts the bytes into cells. False when there are too many runs or incidences.
  bool cut() {
    if (runs_ > limit_) return false;
    struct Run {
      std::int64_t begin, end;
      std::uint32_t footprint;
    };
    std::map<PoolId, std::vector<Run>> pools;
    for (std::uint32_t f = 0; f < regions_.size(); ++f) {
      if (regions_[f].empty()) continue;
      for (const ByteRange& run : regions_[f].runs()) {
        pools[regions_[f].pool()].push_back({run.begin, run.end, f});
      }
    }
    map_.footprints.resize(regions_.size());
    std::uint64_t incidences = 0;
    for (auto& [pool, runs] : pools) {
      std::vector<std::int64_t> points;
      for (const Run& run : runs) {
        points.push_back(run.begin);
        points.push_back(run.end);
      }
      std::ranges::sort(points);
      points.erase(std::unique(points.begin(), points.end()), points.end());
      std::vector<std::vector<std::uint32_t>> covers(points.size());
      for (const Run& run : runs) {
        auto at =
            static_cast<std::size_t>(std::ranges::lower_bound(points, run.begin) - points.begin());
        for (; points[at] != run.end; ++at) {
          covers[at].push_back(run.footprint);
          if (++incidences > limit_) return false;
        }
      }
      make_cells(pool, points, covers);
    }
    for (std::uint32_t f = 0; f < regions_.size(); ++f) std::ranges::sort(map_.footprints[f]);
    return true;
  }

  void make_cells(PoolId pool, const std::vector<std::int64_t>& points,
                  std::vector<std::vector<std::uint32_t>>& covers) {
    std::map<std::vector<std::uint32_t>, CellId> known;
    for (std::size_t at = 0; at + 1 < points.size(); ++at) {
      if (covers[at].empty()) continue;
      std::ranges::sort(covers[at]);
      const auto id = static_cast<CellId>(map_.cells.size());
      const auto [cell, is_new] = known.try_emplace(covers[at], id);
      if (is_new) {
        map_.cells.push_back({.pool = pool, .first = {points[at], points[at + 1]}});
        for (std::uint32_t f : covers[at]) map_.footprints[f].push_back(id);
      } else if (map_.cells[cell->second].first.end == points[at]) {
        map_.cells[cell->second].first.end = points[at + 1];
      }
    }
  }

  /// Forgets the touches that have no byte, and gives those of everything their cells.
  void drop_untouched() {
    if (has_everything_) {
      const auto all = static_cast<std::uint32_t>(map_.footprints.size());
      std::vector<CellId> cells(map_.cells.size());
      for (CellId cell = 0; cell < cells.size(); ++cell) cells[cell] = cell;
      map_.footprints.push_back(std::move(cells));
      for (Touch& touch : map_.touches) {
        if (touch.footprint == kUnmade) touch.footprint = all;
      }
    }
    std::vector<Touch> kept;
    std::vector<std::uint32_t> begins;
    for (const CommandId c : commands_) {
      begin(begins, c, kept.size());
      for (const Touch& touch : map_.touches_of(c)) {
        if (!map_.footprints[touch.footprint].empty()) kept.push_back(touch);
      }
    }
    begin(begins, program_.commands.next_id(), kept.size());
    map_.touches = std::move(kept);
    map_.touch_begin = std::move(begins);
  }

  void record_histories() {
    for (const CommandId c : commands_) {
      for (const Touch& touch : map_.touches_of(c)) {
        for (CellId cell : map_.footprints[touch.footprint]) record(c, touch, cell);
      }
    }
  }

  void record(CommandId c, const Touch& touch, CellId cell) {
    if (touch.kind == TouchKind::kOpaque) {
      std::vector<CommandId>& unknowns = map_.cells[cell].unknowns;
      if (unknowns.empty() || unknowns.back() != c) unknowns.push_back(c);
    }
    if (touch.kind == TouchKind::kRead || touch.kind == TouchKind::kClobber) return;
    if (touch.access == Touch::kEverything) return;
    const TensorId tensor = plan_.accesses[touch.access].tensor;
    if (tensor == kNone<TensorId>) return;
    std::vector<HistoryEntry>& history =
        map_.histories[{cell, plan_.tensors[tensor].root, touch.instance}];
    const bool is_update = touch.kind == TouchKind::kAccumulate;
    if (!history.empty() && history.back().command == c) {
      history.back().is_update &= is_update;
    } else {
      history.push_back({c, is_update});
    }
  }

  void combine_effects() {
    std::vector<Effect> own;
    for (const CommandId c : commands_) {
      begin(map_.effect_begin, c, map_.effects.size());
      own.clear();
      for (const Touch& touch : map_.touches_of(c)) {
        if (touch.kind == TouchKind::kRead) continue;
        for (CellId cell : map_.footprints[touch.footprint]) {
          own.push_back({cell, touch.kind, touch.update});
        }
      }
      std::ranges::stable_sort(own, [](const Effect& a, const Effect& b) {
        return a.cell != b.cell ? a.cell < b.cell : a.kind > b.kind;
      });
      for (const Effect& effect : own) {
        const bool is_first = map_.effects.size() == map_.effect_begin.back() ||
                              map_.effects.back().cell != effect.cell;
        if (is_first) map_.effects.push_back(effect);
      }
    }
    begin(map_.effect_begin, program_.commands.next_id(), map_.effects.size());
  }

  static constexpr std::uint32_t kUnmade = 0xFFFFFFFFU;
  static constexpr std::uint32_t kOutside = 0xFFFFFFFEU;

  const Plan& plan_;
  const Layout& layout_;
  const Program& program_;
  const std::optional<Window>& window_;
  const std::span<const CommandId> commands_;
  const std::uint64_t limit_;
  ByteMap map_;
  std::vector<Region> regions_;  ///< By footprint.
  std::uint64_t runs_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> access_footprints_;  ///< By access, by slot.
  std::vector<std::pair<InitialValue, std::uint32_t>> initial_;         ///< (what, footprint)
  std::map<std::pair<UpdateId, DType>, std::uint32_t> updates_;
  bool has_everything_ = false;
};

}  // namespace

Table<TensorId, std::uint8_t> one_for_all(const Plan& plan) {
  Table<TensorId, std::uint8_t> one;
  one.resize(plan.tensors.size(), 1);
  for (const Op& op : plan.ops) {
    if (op.kind != OpKind::kOp && op.kind != OpKind::kUnknown) continue;
    for (const Access& access : plan.accesses_of(op)) {
      if (access.tensor == kNone<TensorId>) continue;
      if (!keeps_one_instance(access, op)) one[plan.tensors[access.tensor].root] = 0;
    }
  }
  for (TensorId tensor : ids(plan.tensors)) {
    const StorageId storage = plan.tensors[tensor].storage;
    if (plan.storages[storage].slots.size() > 1) one[plan.tensors[tensor].root] = 0;
  }
  return one;
}

Result<ByteMap> map_bytes(const Setting& setting, const std::optional<Window>& window,
                          std::uint64_t limit) {
  std::vector<CommandId> commands;
  for (const CommandId c : ids(setting.program.commands)) commands.push_back(c);
  return Mapper(setting, window, commands, one_for_all(setting.plan), limit).build();
}

Result<ByteMap> map_bytes(const Setting& setting, const Window& window,
                          std::span<const CommandId> commands,
                          const Table<TensorId, std::uint8_t>& one_for_all, std::uint64_t limit) {
  return Mapper(setting, window, commands, one_for_all, limit).build();
}

bool conflict(const Touch& a, const Touch& b) {
  if (a.kind == TouchKind::kOpaque || b.kind == TouchKind::kOpaque) return true;
  if (a.kind == TouchKind::kRead && b.kind == TouchKind::kRead) return false;
  return a.kind != TouchKind::kAccumulate || b.kind != TouchKind::kAccumulate ||
         a.update != b.update;
}

std::int64_t instance_of(const Plan& plan, const ByteMap& map, TensorId tensor,
                         std::int64_t iteration) {
  return map.one_for_all[plan.tensors[tensor].root] != 0 ? 0 : iteration;
}

}  // namespace memverify::sim
