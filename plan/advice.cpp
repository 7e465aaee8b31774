#include "plan/advice.h"

#include <algorithm>
#include <utility>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kSmall = 2'000;  ///< Ops or tensors, so that a layout costs little.

StorageId holder_of(const Plan& plan, const Access& access) {
  return access.tensor == kNone<TensorId> ? kNone<StorageId> : plan.tensors[access.tensor].storage;
}

TensorId family_of(const Plan& plan, const Access& access) {
  return access.tensor == kNone<TensorId> ? kNone<TensorId> : plan.tensors[access.tensor].root;
}

bool changes(const Access& access) { return access.kind != AccessKind::kRead; }

/// True iff some access of `op` is in the storage of one of `mover`'s, and one of the two writes.
bool depend(const Plan& plan, const Op& mover, const Op& op) {
  for (const Access& mine : plan.accesses_of(mover)) {
    for (const Access& theirs : plan.accesses_of(op)) {
      if (!changes(mine) && !changes(theirs)) continue;
      const StorageId storage = holder_of(plan, mine);
      if (storage == kNone<StorageId> || storage == holder_of(plan, theirs)) return true;
    }
  }
  return false;
}

/// True iff `reader` reads from a storage that `writer` writes to.
bool feeds(const Plan& plan, const Op& writer, const Op& reader) {
  return std::ranges::any_of(plan.accesses_of(reader), [&](const Access& read) {
    return read.kind == AccessKind::kRead &&
           std::ranges::any_of(plan.accesses_of(writer), [&](const Access& write) {
             return changes(write) && holder_of(plan, write) == holder_of(plan, read);
           });
  });
}

/// True iff `op` waits for `mover` or passes on that it has completed.
bool tells_of(const Plan& plan, OpId mover, const Op& op) {
  if (op.kind == OpKind::kRecord && op.queue == plan.ops[mover].queue) return true;
  return std::ranges::any_of(plan.after_of(op),
                             [&](const After& after) { return after.op == mover; });
}

bool reads_family(const Plan& plan, const Op& op, TensorId root) {
  return std::ranges::any_of(plan.accesses_of(op), [&](const Access& access) {
    return access.kind == AccessKind::kRead && family_of(plan, access) == root;
  });
}

bool is_output_family(const Plan& plan, TensorId root) {
  return std::ranges::any_of(
      plan.outputs, [&](const Output& output) { return plan.tensors[output.tensor].root == root; });
}

/// A plain op that syncs with nothing but by its queue and "after".
bool is_movable(const Plan& plan, const Op& op) {
  return op.kind == OpKind::kOp && plan.signals_of(op).empty() && plan.waits_of(op).empty();
}

}  // namespace

std::string make_wait(const Plan& plan, OpId later, OpId earlier, std::int64_t distance) {
  return "make " + quoted(plan.ops[later].name) + " wait for " + quoted(plan.ops[earlier].name) +
         ": add " + after_json(plan, earlier, distance) + " to " + quoted(plan.ops[later].name);
}

std::string either(const std::vector<std::string>& advices, const std::string& otherwise) {
  std::string out;
  for (const std::string& advice : advices) out += (out.empty() ? "" : "; or ") + advice;
  return out.empty() ? otherwise : out;
}

bool is_family(const Plan& plan, TensorId a, TensorId b) {
  return a != kNone<TensorId> && b != kNone<TensorId> &&
         plan.tensors[a].root == plan.tensors[b].root;
}

const Access* find_access(const Plan& plan, OpId op, TensorId tensor, AccessKind kind) {
  for (const Access& access : plan.accesses_of(plan.ops[op])) {
    if (access.kind == kind && access.tensor == tensor) return &access;
  }
  return nullptr;
}

bool may_run_after(const Plan& plan, OpId writer, OpId reader, TensorId victim) {
  const Op& mover = plan.ops[writer];
  if (writer >= reader || !is_movable(plan, mover)) return false;
  const TensorId root = plan.tensors[victim].root;
  // A new value of the family itself: the reader must mean an older one, later ones are as before.
  const bool renews = std::ranges::any_of(plan.accesses_of(mover), [&](const Access& access) {
    return changes(access) && family_of(plan, access) == root;
  });
  if (!renews && (repeats(plan) || is_output_family(plan, root))) return false;
  for (std::uint32_t at = index(writer) + 1; at < plan.ops.size(); ++at) {
    const OpId id = static_cast<OpId>(at);
    const Op& op = plan.ops[id];
    if (id > reader) {
      if (!renews && reads_family(plan, op, root)) return false;
      continue;
    }
    if (tells_of(plan, writer, op) || op.kind != OpKind::kOp) return false;
    if (id < reader && depend(plan, mover, op)) return false;
  }
  // What it overwrites for the reader is the point; beyond that the two may share nothing.
  for (const Access& mine : plan.accesses_of(mover)) {
    for (const Access& theirs : plan.accesses_of(plan.ops[reader])) {
      if (mine.tensor == kNone<TensorId> || theirs.tensor == kNone<TensorId>) return false;
      const bool means_older =
          theirs.distance > 0 || theirs.from != kNone<OpId> || theirs.from_initial;
      if (renews && theirs.tensor == victim && means_older && !changes(theirs)) continue;
      if (holder_of(plan, mine) != holder_of(plan, theirs)) continue;
      if (changes(theirs) || family_of(plan, mine) == family_of(plan, theirs)) return false;
    }
  }
  return true;
}

bool may_run_before(const Plan& plan, OpId op, OpId other) {
  const Op& mover = plan.ops[op];
  if (repeats(plan) || other >= op || !is_movable(plan, mover) || !mover.after.empty()) {
    return false;
  }
  for (const Access& mine : plan.accesses_of(mover)) {
    if (!changes(mine)) continue;
    if (mine.tensor == kNone<TensorId>) return false;
    for (std::uint32_t at = index(other); at < plan.ops.size(); ++at) {
      if (reads_family(plan, plan.ops[static_cast<OpId>(at)], family_of(plan, mine))) return false;
    }
  }
  for (std::uint32_t at = index(other); at < index(op); ++at) {
    const Op& between = plan.ops[static_cast<OpId>(at)];
    if (between.kind != OpKind::kOp) return false;
    if (at > index(other) ? depend(plan, mover, between) : feeds(plan, between, mover))
      return false;
  }
  return true;
}

bool may_list_before(const Plan& plan, OpId op, OpId other) {
  const Op& mover = plan.ops[op];
  if (other >= op || mover.kind != OpKind::kOp) return false;
  for (std::uint32_t at = index(other); at < index(op); ++at) {
    const Op& between = plan.ops[static_cast<OpId>(at)];
    if (between.kind != OpKind::kOp || feeds(plan, between, mover)) return false;
    const bool is_first = at == index(other);
    if (!is_first && (between.queue == mover.queue || feeds(plan, mover, between))) return false;
  }
  return true;
}

bool is_same_serial_queue(const Plan& plan, OpId a, OpId b) {
  const QueueId queue = plan.ops[a].queue;
  if (queue == kNone<QueueId> || queue != plan.ops[b].queue) return false;
  const QueueOrder order = plan.queues[queue].order;
  return order == QueueOrder::kSerial || order == QueueOrder::kHost;
}

bool has_completed(const Finding& finding, OpId op, std::int64_t iteration) {
  return std::ranges::any_of(finding.witness, [&](const Step& step) {
    return step.complete && step.op == op && step.iteration == iteration;
  });
}

std::optional<Layout> small_layout(const Plan& plan, const Finding& finding) {
  if (plan.ops.size() > kSmall || plan.tensors.size() > kSmall) return std::nullopt;
  Valuation valuation;
  for (const Symbol& symbol : plan.symbols) valuation.symbols.push_back(least_value(symbol));
  for (const SymbolValue& value : finding.symbols) {
    valuation.symbols[index(value.symbol)] = value.value;
  }
  Result<Layout> layout = Layout::make(plan, valuation);
  if (!layout.ok()) return std::nullopt;
  return std::move(layout.value());
}

std::optional<Layout> greatest_small_layout(const Plan& plan) {
  Finding greatest;
  for (const SymbolId id : ids(plan.symbols)) {
    const Symbol& symbol = plan.symbols[id];
    if (!symbol.max) return std::nullopt;
    greatest.symbols.push_back({id, *symbol.max - *symbol.max % symbol.multiple_of});
  }
  return small_layout(plan, greatest);
}

bool touches_bytes(const Plan& plan, const Layout& layout, const Access& access,
                   const Finding& finding) {
  const StorageId storage = holder_of(plan, access);
  const std::int64_t slots =
      storage == kNone<StorageId> ? 1 : std::int64_t{layout.storage(storage).slots.size()};
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    const Region bytes = layout.access_region(plan, access, slot);
    if (bytes.pool() == finding.pool && !bytes.clipped(finding.bytes).empty()) return true;
  }
  return false;
}

}  // namespace memverify
