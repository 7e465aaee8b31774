#include "sim/reads.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "sim/state.h"

namespace memverify::sim {

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
            {c, tensor, cell, touch.instance, expected_value(setting, map, c, touch, cell)});
      }
    }
  }
  std::set<CommandId> unknowns;
  for (const EndRead& read : map.end_reads) {
    for (CellId cell : map.footprints[read.footprint]) {
      unknowns.insert(map.cells[cell].unknowns.begin(), map.cells[cell].unknowns.end());
      reads.at_end.push_back({kNone<CommandId>, read.tensor, cell, read.instance,
                              expected_at_end(setting, map, read, cell)});
    }
  }
  reads.end_unknowns.assign(unknowns.begin(), unknowns.end());
  return reads;
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

using Unknowns = std::vector<CommandId>;

/// Runs everything that can run, in some order, without ever starting one of `frozen`.
class AnyRun {
 public:
  AnyRun(const Setting& setting, const ByteMap& map, const Reads& reads,
         const std::vector<std::uint8_t>& racy, const Unknowns& frozen)
      : program_(setting.program),
        map_(map),
        reads_(reads),
        racy_(racy),
        frozen_(frozen),
        execution_(setting.program),
        memory_(map) {}

  void run(std::vector<WrongValue>& out) {
    std::vector<CommandId> waiting;
    for (CommandId c : ids(program_.commands)) {
      if (!std::ranges::binary_search(frozen_, c)) waiting.push_back(c);
    }
    for (bool moved = true; moved;) {
      moved = false;
      std::erase_if(waiting, [&](CommandId c) {
        if (execution_.can_start(c)) {
          look(c, out);
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
    if (execution_.done() != program_.commands.size()) return;
    for (const Demand& demand : reads_.at_end) judge(demand, out);
  }

 private:
  void look(CommandId c, std::vector<WrongValue>& out) {
    const auto first = std::ranges::lower_bound(reads_.during, c, {}, &Demand::reader);
    const auto last = std::ranges::upper_bound(reads_.during, c, {}, &Demand::reader);
    for (const Demand& demand : std::span(first, last)) {
      judge(demand, out);
    }
  }

  void judge(const Demand& demand, std::vector<WrongValue>& out) {
    if (racy_[demand.cell] != 0 || map_.cells[demand.cell].unknowns != frozen_) return;
    if (demand.expected.base == Expected::Base::kNothing ||
        demand.expected.base == Expected::Base::kOpaque) {
      return;
    }
    const Value found = memory_.value(demand.cell);
    if (!matches(found, demand.expected)) {
      out.push_back({&demand, culprit(found, demand.expected)});
    }
  }

  const Program& program_;
  const ByteMap& map_;
  const Reads& reads_;
  const std::vector<std::uint8_t>& racy_;
  const Unknowns& frozen_;
  Execution execution_;
  Memory memory_;
};

}  // namespace

std::vector<WrongValue> wrong_values_of_any_run(const Setting& setting, const ByteMap& map,
                                                const Reads& reads,
                                                const std::vector<std::uint8_t>& racy) {
  std::set<Unknowns> sets;
  for (const Cell& cell : map.cells) sets.insert(cell.unknowns);
  std::vector<WrongValue> wrong;
  for (const Unknowns& frozen : sets) AnyRun(setting, map, reads, racy, frozen).run(wrong);
  return wrong;
}

}  // namespace memverify::sim
