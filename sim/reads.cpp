#include "sim/reads.h"

#include <algorithm>
#include <map>
#include <utility>

namespace memverify::sim {

namespace {

bool is_unknown(const Setting& setting, CommandId c) {
  return setting.plan.ops[setting.program.commands[c].op].kind == OpKind::kUnknown;
}

/// True iff `c` touches the cell, other than to read it, through the family of `root`.
bool touches_through(const Setting& setting, const ByteMap& map, CommandId c, CellId cell,
                     TensorId root) {
  return std::ranges::any_of(map.touches_of(c), [&](const Touch& touch) {
    if (touch.kind == TouchKind::kRead || touch.access == Touch::kEverything) return false;
    const TensorId tensor = setting.plan.accesses[touch.access].tensor;
    return tensor != kNone<TensorId> && setting.plan.tensors[tensor].root == root &&
           std::ranges::binary_search(map.footprints[touch.footprint], cell);
  });
}

}  // namespace

Reads collect_reads(const Setting& setting, const ByteMap& map) {
  Reads reads;
  for (CommandId c : ids(setting.program.commands)) {
    for (const Touch& touch : map.touches_of(c)) {
      if (touch.kind != TouchKind::kRead && touch.kind != TouchKind::kOpaque) continue;
      if (touch.access == Touch::kEverything) continue;
      const TensorId tensor = setting.plan.accesses[touch.access].tensor;
      if (tensor == kNone<TensorId>) continue;
      for (CellId cell : map.footprints[touch.footprint]) {
        reads.during.push_back(
            {.reader = c,
             .tensor = tensor,
             .cell = cell,
             .instance = touch.instance,
             .is_open = is_unknown(setting, c) || !map.cells[cell].unknowns.empty(),
             .expected = expected_value(setting, map, c, touch, cell)});
      }
    }
  }
  for (const EndRead& read : map.end_reads) {
    for (CellId cell : map.footprints[read.footprint]) {
      reads.at_end.push_back({.tensor = read.tensor,
                              .cell = cell,
                              .instance = read.instance,
                              .own_family_may_write = read.own_family_may_write,
                              .is_open = !map.cells[cell].unknowns.empty(),
                              .expected = expected_at_end(setting, map, read, cell)});
    }
  }
  return reads;
}

bool meets(const Setting& setting, const ByteMap& map, const Value& found, const Demand& demand) {
  if (matches(found, demand.expected)) return true;
  const bool is_definite =
      found.base == Value::Base::kInitial || found.base == Value::Base::kCommand;
  if (!demand.own_family_may_write || !is_definite) return false;
  const TensorId root = setting.plan.tensors[demand.tensor].root;
  const auto is_own = [&](CommandId c) {
    return touches_through(setting, map, c, demand.cell, root);
  };
  return (found.base == Value::Base::kInitial || is_own(found.command)) &&
         std::ranges::all_of(found.updates, is_own);
}

std::span<const Demand> demands_of(const Reads& reads, CommandId reader) {
  return std::span(std::ranges::lower_bound(reads.during, reader, {}, &Demand::reader),
                   std::ranges::upper_bound(reads.during, reader, {}, &Demand::reader));
}

std::vector<std::uint8_t> racy_cells(const ByteMap& map,
                                     const std::vector<std::pair<CommandId, CommandId>>& races) {
  std::vector<std::uint8_t> racy(map.cells.size(), 0);
  std::map<CellId, std::vector<const Touch*>> first;
  for (const auto& [a, b] : races) {
    first.clear();
    for (const Touch& touch : map.touches_of(a)) {
      for (CellId cell : map.footprints[touch.footprint]) first[cell].push_back(&touch);
    }
    for (const Touch& touch : map.touches_of(b)) {
      for (CellId cell : map.footprints[touch.footprint]) {
        const auto others = first.find(cell);
        if (others == first.end()) continue;
        for (const Touch* other : others->second) {
          if (conflict(*other, touch)) racy[cell] = 1;
        }
      }
    }
  }
  return racy;
}

namespace {

/// Runs everything that can run, in some order.
class AnyRun {
 public:
  AnyRun(const Setting& setting, const ByteMap& map, const Reads& reads,
         const std::vector<std::uint8_t>& racy)
      : setting_(setting),
        map_(map),
        reads_(reads),
        racy_(racy),
        execution_(setting.program),
        memory_(map) {}

  std::vector<WrongValue> run() {
    std::vector<CommandId> waiting;
    for (CommandId c : ids(setting_.program.commands)) waiting.push_back(c);
    for (bool moved = true; moved;) {
      moved = false;
      std::erase_if(waiting, [&](CommandId c) {
        if (execution_.can_start(c)) {
          for (const Demand& demand : demands_of(reads_, c)) judge(demand);
          execution_.start(c);
          memory_.start(c);
          moved = true;
        }
        if (!execution_.can_finish(c)) return false;
        execution_.finish(c);
        memory_.finish(c);
        moved = true;
        return true;
      });
    }
    if (waiting.empty()) {
      for (const Demand& demand : reads_.at_end) judge(demand);
    }
    return std::move(wrong_);
  }

 private:
  void judge(const Demand& demand) {
    if (racy_[demand.cell] != 0 || demand.expected.base == Expected::Base::kNothing ||
        demand.expected.base == Expected::Base::kOpaque) {
      return;
    }
    const Value found = memory_.value(demand.cell);
    if (!meets(setting_, map_, found, demand)) {
      wrong_.push_back({&demand, culprit(found, demand.expected)});
    }
  }

  const Setting& setting_;
  const ByteMap& map_;
  const Reads& reads_;
  const std::vector<std::uint8_t>& racy_;
  Execution execution_;
  Memory memory_;
  std::vector<WrongValue> wrong_;
};

}  // namespace

std::vector<WrongValue> wrong_values_of_any_run(const Setting& setting, const ByteMap& map,
                                                const Reads& reads,
                                                const std::vector<std::uint8_t>& racy) {
  return AnyRun(setting, map, reads, racy).run();
}

}  // namespace memverify::sim
