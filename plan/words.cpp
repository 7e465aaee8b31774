#include "plan/words.h"

#include <algorithm>

namespace memverify {
namespace {

bool fires(const Plan& plan, const Op& op, EventId event) {
  if (op.kind == OpKind::kRecord && op.event == event) return true;
  return std::ranges::any_of(plan.signals_of(op),
                             [&](const Signal& signal) { return signal.event == event; });
}

/// The last op in `[begin, end)` that records or signals `event`.
OpId last_firing(const Plan& plan, EventId event, std::uint32_t begin, std::uint32_t end) {
  begin = std::max(begin, end > kLookBack ? end - kLookBack : 0U);
  for (std::uint32_t at = end; at > begin; --at) {
    const OpId op = static_cast<OpId>(at - 1);
    if (fires(plan, plan.ops[op], event)) return op;
  }
  return kNone<OpId>;
}

/// True iff the semaphore starts at or above what the wait needs.
bool is_met_from_the_start(const Plan& plan, const Wait& wait) {
  const Expr& initial = plan.semaphores[wait.semaphore].initial;
  return !wait.consume && wait.value.is_constant() && initial.is_constant() &&
         wait.value.constant <= initial.constant;
}

/// " (signalled by `a`, `b`: either suffices)", " (nothing signals it)".
std::string signallers(const Plan& plan, const Wait& wait) {
  const SemaphoreId semaphore = wait.semaphore;
  const auto suffices = [](const Expr& signalled, const Expr& needed) {
    return signalled.is_constant() && needed.is_constant() && signalled.constant >= needed.constant;
  };
  std::vector<std::string> names;
  bool each = !repeats(plan) && plan.formulas.to_string(plan.semaphores[semaphore].initial) == "0";
  for (const Op& op : plan.ops) {
    for (const Signal& signal : plan.signals_of(op)) {
      if (signal.semaphore != semaphore) continue;
      const std::string value = plan.formulas.to_string(signal.value);
      each = each && suffices(signal.value, wait.value);
      const bool timeline = plan.semaphores[semaphore].timeline;
      const std::string by = timeline       ? " (to " + value + ")"
                             : value == "1" ? ""
                                            : " (by " + value + ")";
      if (names.size() < 4)
        names.push_back(quoted(op.name) + by);
      else if (names.size() == 4)
        names.emplace_back("others");
    }
  }
  if (names.empty()) return " (nothing signals it)";
  return " (signalled by " + listed(names) +
         (names.size() > 1 && each
              ? (names.size() == 2 ? ": either suffices" : ": any of them suffices")
              : "") +
         ")";
}

}  // namespace

std::string printable(std::string_view name) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

std::string quoted(std::string_view name) { return "`" + printable(name) + "`"; }

std::string listed(const std::vector<std::string>& items, std::string_view conjunction) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += i + 1 == items.size() ? " " + std::string(conjunction) + " " : ", ";
    out += items[i];
  }
  return out;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

bool repeats(const Plan& plan) { return plan.iterations != 1; }

std::string op_name(const Plan& plan, OpId op, std::int64_t iteration) {
  std::string out = quoted(plan.ops[op].name);
  if (repeats(plan)) out += " of iteration " + std::to_string(iteration);
  return out;
}

std::string queue_words(const Plan& plan, OpId id) {
  const Op& op = plan.ops[id];
  if (op.kind == OpKind::kBarrier) {
    std::vector<std::string> names;
    for (const QueueId queue : plan.queues_of(op)) names.push_back(quoted(plan.queues[queue].name));
    return (names.size() == 1 ? "queue " : "queues ") + listed(names);
  }
  if (op.queue != kNone<QueueId>) return "queue " + quoted(plan.queues[op.queue].name);
  if (op.kind == OpKind::kHostWait) return "thread " + quoted(plan.threads[op.thread]);
  return "";
}

std::string op_words(const Plan& plan, OpId id, std::int64_t iteration) {
  const Op& op = plan.ops[id];
  std::vector<std::string> details;
  if (const std::string_view label = plan.details_of(op).label; !label.empty()) {
    details.push_back(printable(label));
  } else if (op.kind != OpKind::kOp) {
    details.emplace_back(name(op.kind));
  }
  if (std::string queue = queue_words(plan, id); !queue.empty()) details.push_back(queue);
  std::string out = op_name(plan, id, iteration);
  if (!details.empty()) {
    out += " (" + details[0] + (details.size() > 1 ? ", " + details[1] : "") + ")";
  }
  return out;
}

std::vector<TensorId> alias_chain(const Plan& plan, TensorId tensor) {
  std::vector<TensorId> chain;
  for (; tensor != kNone<TensorId>; tensor = plan.tensors[tensor].base) chain.push_back(tensor);
  return chain;
}

std::string tensor_words(const Plan& plan, TensorId tensor) {
  const std::vector<TensorId> chain = alias_chain(plan, tensor);
  std::string out = quoted(plan.tensors[tensor].name);
  if (chain.size() == 1) return out;
  out += " (a view: ";
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (i > 0) out += " -> ";
    out += quoted(plan.tensors[chain[i]].name);
  }
  return out + ")";
}

std::string place_words(const Plan& plan, PoolId pool, ByteRange bytes) {
  std::string out =
      "bytes [" + std::to_string(bytes.begin) + ", " + std::to_string(bytes.end) + ")";
  if (pool != kNone<PoolId>) out += " of pool " + quoted(plan.pools[pool].name);
  return out;
}

std::string address_range(const Plan& plan, const Expr& offset, const Expr& bytes) {
  const std::string begin = plan.formulas.to_string(offset);
  std::string end = plan.formulas.to_string(bytes);
  std::int64_t sum = 0;
  const bool known = offset.is_constant() && bytes.is_constant() &&
                     !__builtin_add_overflow(offset.constant, bytes.constant, &sum);
  if (known) {
    end = std::to_string(sum);
  } else if (begin != "0") {
    end = begin + " + " + end;
  }
  return "[" + begin + ", " + end + ")";
}

OpId bound_record(const Plan& plan, OpId op, EventId event, bool* previous_iteration) {
  OpId found = last_firing(plan, event, 0, index(op));
  const bool wraps = found == kNone<OpId> && repeats(plan);
  if (wraps) {
    found = last_firing(plan, event, index(op), static_cast<std::uint32_t>(plan.ops.size()));
  }
  if (previous_iteration != nullptr) *previous_iteration = wraps && found != kNone<OpId>;
  return found;
}

std::string wait_words(const Plan& plan, OpId op, const Wait& wait) {
  const auto queue = [&] { return "queue " + quoted(plan.queues[wait.queue].name); };
  const auto value = [&] { return plan.formulas.to_string(wait.value); };
  switch (wait.kind) {
    case WaitKind::kEvent: {
      const std::string event = "event " + quoted(plan.events[wait.event]);
      bool before = false;
      const OpId record = bound_record(plan, op, wait.event, &before);
      if (record == kNone<OpId>) return event + ", which nothing recorded before";
      return event + ", recorded by " + quoted(plan.ops[record].name) +
             (before ? " of the iteration before" : "") +
             (always_runs(plan, plan.ops[record]) ? "" : " (where it runs)");
    }
    case WaitKind::kSemaphore:
      return (wait.consume ? value() + " to take from semaphore " : "semaphore ") +
             quoted(plan.semaphores[wait.semaphore].name) +
             (wait.consume ? "" : " to reach " + value()) +
             (is_met_from_the_start(plan, wait) ? ", where it starts" : signallers(plan, wait));
    case WaitKind::kPending:
      if (value() == "0") return "every op of " + queue();
      return "all ops of " + queue() + " but the last" + (value() == "1" ? "" : " " + value());
    case WaitKind::kOutstanding:
      if (value() == "0") return "all ops submitted to " + queue();
      return "all but " + value() + " of the ops of " + queue();
    case WaitKind::kQueue:
      return "every earlier command of " + queue();
    case WaitKind::kAll:
      return "every earlier command";
  }
  return "";
}

std::string after_json(const Plan& plan, OpId op, std::int64_t distance) {
  const std::string id = "\"" + printable(plan.ops[op].name) + "\"";
  if (distance == 0) return "\"after\": [" + id + "]";
  return "\"after\": [{\"op\": " + id + ", \"distance\": " + std::to_string(distance) + "}]";
}

}  // namespace memverify
