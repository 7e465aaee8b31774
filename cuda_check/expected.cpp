#include "cuda_check/expected.h"

#include <algorithm>
#include <span>

namespace memverify::device {

/// What one reader sees of the history.
struct History::View {
  const History& history;
  const Reader& reader;
  std::span<const Entry> entries;
  CommandId floor = kNone<CommandId>;  ///< The last alloc of the slot before the reader.
  std::vector<ExpectedPart> out;

  bool is_alive(const Entry& entry) const {
    return entry.command < reader.before && (floor == kNone<CommandId> || entry.command > floor);
  }

  /// `ranges` have this base; the accumulates among the entries from `first` on come on top.
  void close(const Ranges& ranges, std::size_t first, Author base, bool is_opaque) {
    std::vector<ExpectedPart> parts;
    for (const ByteRange& range : ranges) parts.push_back({range, base, is_opaque, {}});
    for (std::size_t i = first; i < entries.size(); ++i) {
      if (!entries[i].is_update || !is_alive(entries[i])) continue;
      std::vector<ExpectedPart> split;
      for (const ExpectedPart& part : parts) {
        for (const ByteRange& rest : without({part.bytes}, entries[i].ranges)) {
          split.push_back(part);
          split.back().bytes = rest;
        }
        for (const ByteRange& both : common({part.bytes}, entries[i].ranges)) {
          split.push_back(part);
          split.back().bytes = both;
          split.back().updates.push_back(entries[i].command);
        }
      }
      parts = std::move(split);
    }
    std::ranges::move(parts, std::back_inserter(out));
  }

  /// Closes what entry `i` wrote of `open`.
  void take(Ranges& open, std::size_t i) {
    const Ranges both = common(open, entries[i].ranges);
    if (both.empty()) return;
    const CommandId writer = entries[i].command;
    const OpKind kind = history.plan_.ops[history.calls_.commands[writer].op].kind;
    close(both, i + 1, author(writer, Mark::kValue), kind == OpKind::kUnknown);
    open = without(open, both);
  }

  /// [S-43]: the last write of the op before the reader, else its first one after.
  void take_named(Ranges& open) {
    const auto is_named = [&](const Entry& entry) {
      return !entry.is_update && history.calls_.commands[entry.command].op == reader.from;
    };
    for (std::size_t i = entries.size(); i > 0; --i) {
      if (entries[i - 1].command < reader.before && is_named(entries[i - 1])) take(open, i - 1);
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].command >= reader.before && is_named(entries[i])) take(open, i);
    }
  }
};

void History::add(CommandId command, TensorId tensor, std::int64_t instance, bool is_update,
                  Ranges ranges) {
  if (ranges.empty()) return;
  entries_[{plan_.tensors[tensor].root, instance}].push_back(
      {command, is_update, std::move(ranges)});
}

void History::add_alloc(CommandId command, StorageId storage, std::uint32_t slot) {
  allocs_[slot_key(storage, slot)].push_back(command);
}

void History::add_initial(TensorId tensor, std::uint32_t slot, const Ranges& ranges) {
  Ranges& all = initial_[{plan_.tensors[tensor].root, slot}];
  all.insert(all.end(), ranges.begin(), ranges.end());
  all = united(std::move(all));
}

std::vector<ExpectedPart> History::expected(const Reader& reader, const Ranges& ranges) const {
  const Tensor& tensor = plan_.tensors[reader.tensor];
  const std::uint32_t slot = layout_.slot_index(tensor.storage, reader.instance);
  View view{*this, reader, {}, kNone<CommandId>, {}};
  if (const auto found = entries_.find({tensor.root, reader.instance}); found != entries_.end()) {
    view.entries = found->second;
  }
  if (const auto found = allocs_.find(slot_key(tensor.storage, slot)); found != allocs_.end()) {
    const auto after = std::ranges::lower_bound(found->second, reader.before);
    if (after != found->second.begin()) view.floor = *(after - 1);
  }
  Ranges open = ranges;
  if (reader.from != kNone<OpId>) view.take_named(open);
  for (std::size_t i = view.entries.size(); i > 0 && !reader.from_initial; --i) {
    const Entry& entry = view.entries[i - 1];
    if (!entry.is_update && view.is_alive(entry)) view.take(open, i - 1);
  }
  if (view.floor == kNone<CommandId> || reader.from_initial) {
    if (const auto found = initial_.find({tensor.root, slot}); found != initial_.end()) {
      view.close(common(open, found->second), 0, Author::kInitial, false);
      open = without(open, found->second);
    }
  }
  view.close(open, 0, Author::kNobody, false);
  return std::move(view.out);
}

}  // namespace memverify::device
