#include "cuda_check/lifetimes.h"

#include <algorithm>

#include "cuda_check/work.h"

namespace memverify::device {

bool Lifetimes::is_alloc(CommandId command) const {
  return plan_.ops[calls_.commands[command].op].kind == OpKind::kAlloc;
}

Lifetimes::Lifetimes(const Plan& plan, const Layout& layout, const Calls& calls, const Work& work)
    : plan_(plan),
      calls_(calls),
      work_(work),
      allocated_(plan.storages.size(), 0),
      freed_(plan.storages.size(), 0) {
  checks_.resize(calls.commands.size());
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::kAlloc) allocated_[index(op.storage)] = 1;
    if (op.kind == OpKind::kFree) freed_[index(op.storage)] = 1;
  }
  const auto slot_of = [&](CommandId c) {
    const StorageId storage = plan.ops[calls.commands[c].op].storage;
    return Slot{storage, layout.slot_index(storage, calls.commands[c].iteration)};
  };
  const auto is_bracket = [&](CommandId c) {
    const OpKind kind = plan.ops[calls.commands[c].op].kind;
    return (kind == OpKind::kAlloc || kind == OpKind::kFree) && !calls.commands[c].passed;
  };
  for (const CommandId c : ids(calls.commands)) {
    if (is_bracket(c)) brackets_[slot_of(c)].push_back(c);
  }
  for (const CommandId c : ids(calls.commands)) {
    if (is_bracket(c)) add_bracket(c, slot_of(c));
    add_accesses(c, work.commands[c].reads);
    add_accesses(c, work.commands[c].writes);
    for (const Update& update : work.commands[c].updates) add_accesses(c, update.pieces);
  }
  add_end(work.end);
}

/// An alloc needs the free before it done, a free the alloc before it.
void Lifetimes::add_bracket(CommandId command, const Slot& slot) {
  const std::vector<CommandId>& all = brackets_[slot];
  const auto at = std::ranges::lower_bound(all, command);
  if (at == all.begin()) {
    if (!is_alloc(command) && allocated_[index(slot.first)] != 0) {
      checks_[command].push_back({Fault::kAlways, {.storage = slot.first}});
    }
    return;
  }
  const CommandId before = *(at - 1);
  const bool never = is_alloc(before) == is_alloc(command);
  checks_[command].push_back(
      {never ? Fault::kAlways : Fault::kUnlessDone, {.storage = slot.first, .other = before}});
}

/// How many of `all` there are up to the last alloc before `before`, itself included.
std::size_t Lifetimes::after_alloc(const std::vector<CommandId>& all, CommandId before) const {
  auto open = std::ranges::lower_bound(all, before);
  while (open != all.begin() && !is_alloc(*(open - 1))) --open;
  return static_cast<std::size_t>(open - all.begin());
}

void Lifetimes::add_accesses(CommandId command, Range pieces) {
  std::vector<std::pair<TensorId, std::uint32_t>> seen;
  for (const Piece& piece : work_.slice(pieces)) {
    if (piece.tensor == kNone<TensorId>) continue;
    const StorageId storage = plan_.tensors[piece.tensor].storage;
    if (allocated_[index(storage)] == 0 && freed_[index(storage)] == 0) continue;
    const std::pair<TensorId, std::uint32_t> one{piece.tensor, piece.slot};
    if (std::ranges::find(seen, one) != seen.end()) continue;
    seen.push_back(one);
    const std::vector<CommandId>& all = brackets_[{storage, piece.slot}];
    const LifetimeClash clash{.storage = storage, .tensor = piece.tensor};
    const auto add = [&](CommandId at, Fault fault, CommandId other) {
      checks_[at].push_back({fault, clash});
      checks_[at].back().clash.other = other;
    };
    const std::size_t open = after_alloc(all, command);
    if (open == 0 && allocated_[index(storage)] != 0) {
      add(command, Fault::kAlways, kNone<CommandId>);
    }
    if (open > 0) add(command, Fault::kUnlessDone, all[open - 1]);
    const auto close = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(open), all.end(),
                                    [&](CommandId c) { return !is_alloc(c); });
    if (close == all.end()) continue;
    add(command, Fault::kIfBegun, *close);
    add(*close, Fault::kIfOpen, command);
  }
}

void Lifetimes::add_end(Range pieces) {
  for (const Piece& piece : work_.slice(pieces)) {
    const StorageId storage = plan_.tensors[piece.tensor].storage;
    const auto found = brackets_.find({storage, piece.slot});
    const std::size_t count = found == brackets_.end() ? 0 : found->second.size();
    const std::size_t open = count == 0 ? 0 : after_alloc(found->second, calls_.commands.next_id());
    LifetimeClash clash{.storage = storage, .tensor = piece.tensor};
    if (open < count) clash.other = found->second[open];
    if (open < count || (open == 0 && allocated_[index(storage)] != 0)) at_end_.push_back(clash);
  }
}

std::vector<LifetimeClash> Lifetimes::at_start(CommandId command, const Machine& machine) const {
  std::vector<LifetimeClash> clashes;
  for (const Check& check : checks_[command]) {
    bool is_fault = check.fault == Fault::kAlways;
    if (!is_fault) {
      const Phase phase = machine.phase(check.clash.other);
      is_fault = (check.fault == Fault::kUnlessDone && phase != Phase::kDone) ||
                 (check.fault == Fault::kIfBegun && phase != Phase::kWaiting) ||
                 (check.fault == Fault::kIfOpen && phase == Phase::kOpen);
    }
    if (is_fault) clashes.push_back(check.clash);
  }
  return clashes;
}

}  // namespace memverify::device
