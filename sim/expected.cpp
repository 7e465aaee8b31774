// The expected writer of a byte ([S-42], [S-43]), read off the history of its family's instance.
#include <algorithm>
#include <optional>
#include <span>

#include "sim/bytes.h"

namespace memverify::sim {
namespace {

/// The reader of a value, as far as the rules for the expected writer care.
struct Reader {
  TensorId tensor;
  std::int64_t instance;
  CommandId before;  ///< The reading command; one past the last for a read at the end.
  OpId from;
  bool from_initial;
};

/// The last command before `reader` that allocated the slot; kNone if there is none.
CommandId last_alloc(const Setting& setting, const ByteMap& map, const Reader& reader) {
  const StorageId storage = setting.plan.tensors[reader.tensor].storage;
  const auto found = map.allocs.find(
      ByteMap::slot_key(storage, setting.layout.slot_index(storage, reader.instance)));
  if (found == map.allocs.end()) return kNone<CommandId>;
  const auto after = std::ranges::lower_bound(found->second, reader.before);
  return after == found->second.begin() ? kNone<CommandId> : *(after - 1);
}

/// Index of the entry that `from` names: the last write of that op before the reader, else its
/// first one after it; nullopt when it is absent from this run.
std::optional<std::size_t> named_entry(const Program& program,
                                       std::span<const HistoryEntry> history,
                                       const Reader& reader) {
  std::optional<std::size_t> named;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (history[i].is_update || program.commands[history[i].command].op != reader.from) continue;
    if (history[i].command >= reader.before && named) break;
    named = i;
    if (history[i].command >= reader.before) break;
  }
  return named;
}

void add_updates(Expected& expected, std::span<const HistoryEntry> history, std::size_t from,
                 const Reader& reader) {
  for (std::size_t i = from; i < history.size() && history[i].command < reader.before; ++i) {
    if (history[i].is_update) expected.updates.push_back(history[i].command);
  }
}

Expected expected_for(const Setting& setting, const ByteMap& map, const Reader& reader,
                      CellId cell) {
  const TensorId root = setting.plan.tensors[reader.tensor].root;
  const auto found = map.histories.find({cell, root, reader.instance});
  std::span<const HistoryEntry> history;
  if (found != map.histories.end()) history = found->second;
  Expected expected;
  const Cell& what = map.cells[cell];
  const bool has_initial = std::ranges::find(what.initial, root) != what.initial.end();
  if (reader.from_initial) {
    expected.base = has_initial ? Expected::Base::kInitial : Expected::Base::kNothing;
    add_updates(expected, history, 0, reader);
    return expected;
  }
  if (reader.from != kNone<OpId>) {
    if (const auto named = named_entry(setting.program, history, reader)) {
      expected.base = Expected::Base::kCommand;
      expected.command = history[*named].command;
      add_updates(expected, history, *named + 1, reader);
      return expected;
    }
  }
  const CommandId floor = last_alloc(setting, map, reader);
  const auto after_floor = [&](CommandId c) { return floor == kNone<CommandId> || c > floor; };
  std::size_t begin = history.size();
  while (begin > 0 && history[begin - 1].command >= reader.before) --begin;
  while (begin > 0 && after_floor(history[begin - 1].command) && history[begin - 1].is_update) {
    --begin;
  }
  if (begin > 0 && after_floor(history[begin - 1].command)) {
    expected.base = Expected::Base::kCommand;
    expected.command = history[begin - 1].command;
  } else if (has_initial) {
    expected.base = Expected::Base::kInitial;
  }
  add_updates(expected, history, begin, reader);
  const auto unknown = std::ranges::lower_bound(what.unknowns, reader.before);
  if (unknown != what.unknowns.begin() &&
      (expected.base != Expected::Base::kCommand || *(unknown - 1) > expected.command)) {
    expected.base = Expected::Base::kOpaque;
    expected.command = *(unknown - 1);
  }
  return expected;
}

}  // namespace

Expected expected_value(const Setting& setting, const ByteMap& map, CommandId reader,
                        const Touch& touch, CellId cell) {
  const Access& access = setting.plan.accesses[touch.access];
  return expected_for(setting, map,
                      {access.tensor, touch.instance, reader, access.from, access.from_initial},
                      cell);
}

Expected expected_at_end(const Setting& setting, const ByteMap& map, const EndRead& read,
                         CellId cell) {
  const CommandId end = setting.program.commands.next_id();
  if (read.output == nullptr) return {.base = Expected::Base::kInitial};
  return expected_for(
      setting, map, {read.tensor, read.instance, end, read.output->from, read.output->from_initial},
      cell);
}

}  // namespace memverify::sim
