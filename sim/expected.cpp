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

Expected expected_for(const Setting& setting, const ByteMap& map, const Reader& reader,
                      CellId cell) {
  const TensorId root = setting.plan.tensors[reader.tensor].root;
  const auto found = map.histories.find({cell, root, reader.instance});
  std::span<const HistoryEntry> history;
  if (found != map.histories.end()) history = found->second;
  const std::vector<InitialValue>& initial = map.cells[cell].initial;
  const StorageId storage = setting.plan.tensors[reader.tensor].storage;
  const InitialValue wanted{root, setting.layout.slot_index(storage, reader.instance)};
  const bool has_initial = std::ranges::find(initial, wanted) != initial.end();
  const CommandId floor = last_alloc(setting, map, reader);
  const auto is_alive = [&](const HistoryEntry& entry) {
    return entry.command < reader.before && (floor == kNone<CommandId> || entry.command > floor);
  };
  std::optional<std::size_t> base;
  if (reader.from != kNone<OpId>) base = named_entry(setting.program, history, reader);
  for (std::size_t i = history.size(); i > 0 && !base && !reader.from_initial; --i) {
    if (is_alive(history[i - 1]) && !history[i - 1].is_update) base = i - 1;
  }
  Expected expected;
  if (base) {
    expected.command = history[*base].command;
    const Op& op = setting.plan.ops[setting.program.commands[expected.command].op];
    expected.base =
        op.kind == OpKind::kUnknown ? Expected::Base::kOpaque : Expected::Base::kCommand;
  } else if (has_initial && (floor == kNone<CommandId> || reader.from_initial)) {
    expected.base = Expected::Base::kInitial;
  }
  for (std::size_t i = base ? *base + 1 : 0; i < history.size(); ++i) {
    if (is_alive(history[i]) && history[i].is_update) {
      expected.updates.push_back(history[i].command);
    }
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
