// What orders a racing pair now, and the cheapest edge that would.
#include <algorithm>
#include <string>
#include <vector>

#include "plan/describe.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMostGates = 4;  ///< Named in one message.

bool on_queue(const Plan& plan, const Op& op, QueueId queue) {
  if (queue == kNone<QueueId>) return false;
  if (op.kind == OpKind::kBarrier) {
    return std::ranges::count(plan.queues_of(op), queue) > 0;
  }
  return op.queue == queue;
}

/// What the start of `id` waits for by its own fields.
std::vector<std::string> own_gates(const Plan& plan, OpId id, std::int64_t iteration) {
  std::vector<std::string> gates;
  const Op& op = plan.ops[id];
  for (const After& after : plan.after_of(op)) {
    std::string text = quoted(plan.ops[after.op].name);
    if (after.distance > 0) text += " of " + counted(after.distance, "iteration") + " before";
    if (after.distance > iteration) text += " (there is none yet)";
    gates.push_back(text);
  }
  if (op.kind == OpKind::kWait) {
    gates.push_back(wait_words(plan, id, Wait{.kind = WaitKind::kEvent, .event = op.event}));
  }
  for (const Wait& wait : plan.waits_of(op)) gates.push_back(wait_words(plan, id, wait));
  return gates;
}

/// Adds what the queue of `id` puts before it: its waits and barriers back to the first other
/// command, and that command as far as the queue's order orders it.
void add_queue_gates(const Plan& plan, OpId id, std::int64_t iteration,
                     std::vector<std::string>& gates) {
  const QueueId queue = plan.ops[id].queue;
  if (queue == kNone<QueueId>) return;
  const std::string on = " on queue " + quoted(plan.queues[queue].name);
  const auto size = static_cast<std::uint32_t>(plan.ops.size());
  const std::uint32_t steps = std::min(iteration > 0 ? size : index(id), kLookBack);
  for (std::uint32_t step = 1; step <= steps && gates.size() <= kMostGates; ++step) {
    const bool earlier_iteration = step > index(id);
    const OpId before = static_cast<OpId>((index(id) + size - step) % size);
    const Op& op = plan.ops[before];
    if (!on_queue(plan, op, queue)) continue;
    if (op.kind == OpKind::kWait) {
      const std::vector<std::string> waited = own_gates(plan, before, iteration);
      gates.insert(gates.end(), waited.begin(), waited.end());
      continue;
    }
    std::string who = quoted(op.name);
    if (earlier_iteration) who += " of the iteration before";
    if (!always_runs(op)) who += " (where it runs)";
    if (op.kind == OpKind::kBarrier) {
      gates.push_back("barrier " + who);
      continue;
    }
    switch (plan.queues[queue].order) {
      case QueueOrder::kSerial:
      case QueueOrder::kHost:
        gates.push_back(who + (earlier_iteration ? "" : " before it") + on);
        if (always_runs(op)) return;
        break;
      case QueueOrder::kIssue:
        gates.push_back("the start (not the completion) of " + who + on);
        if (always_runs(op)) return;
        break;
      case QueueOrder::kNone:
        break;
    }
  }
}

/// Adds the last command at which the thread of `id` blocks before it submits `id`.
void add_thread_gate(const Plan& plan, OpId id, std::vector<std::string>& gates) {
  const ThreadId thread = plan.ops[id].thread;
  const std::uint32_t last = index(id) > kLookBack ? index(id) - kLookBack : 0U;
  for (std::uint32_t at = index(id); at > last; --at) {
    const OpId before = static_cast<OpId>(at - 1);
    const Op& op = plan.ops[before];
    if (op.thread != thread) continue;
    if (op.kind == OpKind::kHostWait) {
      gates.push_back(quoted(op.name) + " on its thread, which waits for " +
                      wait_words(plan, before, plan.waits_of(op)[0]));
      return;
    }
    if (op.queue != kNone<QueueId> && plan.queues[op.queue].order == QueueOrder::kHost &&
        op.queue != plan.ops[id].queue) {
      gates.push_back(quoted(op.name) + " on its thread");
      return;
    }
  }
}

/// A record on the queue of `first` after it that a wait in `second` would bind to; kNone if none.
OpId record_between(const Plan& plan, OpId first, OpId second, EventId& event) {
  const QueueId queue = plan.ops[first].queue;
  const std::uint32_t end = std::min(index(second), index(first) + kLookBack);
  for (std::uint32_t at = index(first) + 1; at < end; ++at) {
    const OpId record = static_cast<OpId>(at);
    const Op& op = plan.ops[record];
    if (op.kind != OpKind::kRecord || op.queue != queue || !always_runs(op)) continue;
    if (bound_record(plan, second, op.event) != record) continue;
    event = op.event;
    return record;
  }
  return kNone<OpId>;
}

/// A record on the queue of `first` but before it, for whose event `second` or a wait on its queue
/// waits; kNone if none.
OpId record_too_early(const Plan& plan, OpId first, OpId second, EventId& event) {
  const auto early = [&](OpId waiter, EventId waited) {
    const OpId record = bound_record(plan, waiter, waited);
    return record != kNone<OpId> && record < first && plan.ops[record].kind == OpKind::kRecord &&
                   plan.ops[record].queue == plan.ops[first].queue
               ? record
               : kNone<OpId>;
  };
  for (const Wait& wait : plan.waits_of(plan.ops[second])) {
    if (wait.kind != WaitKind::kEvent) continue;
    event = wait.event;
    if (const OpId record = early(second, event); record != kNone<OpId>) return record;
  }
  const std::uint32_t last = index(second) > kLookBack ? index(second) - kLookBack : 0U;
  int looked_at = 0;
  for (std::uint32_t at = index(second); at > last && looked_at < 8; --at) {
    const OpId waiter = static_cast<OpId>(at - 1);
    const Op& op = plan.ops[waiter];
    if (op.kind != OpKind::kWait || op.queue != plan.ops[second].queue) continue;
    ++looked_at;
    event = op.event;
    if (const OpId record = early(waiter, event); record != kNone<OpId>) return record;
  }
  return kNone<OpId>;
}

/// Where else the second op's bytes could lie; "" when both mean the same family in one instance.
std::string other_bytes(const Plan& plan, const Finding& finding, std::int64_t distance) {
  if (finding.tensors.size() < 2) return "";
  const TensorId first = finding.tensors[0];
  const TensorId second = finding.tensors[1];
  if (first == kNone<TensorId> || second == kNone<TensorId>) return "";
  if (plan.tensors[first].root != plan.tensors[second].root) {
    return "; or give " + quoted(plan.tensors[second].name) + " bytes that " +
           quoted(plan.tensors[first].name) + " does not use";
  }
  const StorageId storage = plan.tensors[first].storage;
  if (distance == 0 || finding.rule == Rule::kRaw || storage == kNone<StorageId>) return "";
  const std::uint32_t slots = plan.storages[storage].slots.size();
  return "; or give storage " + quoted(plan.storages[storage].name) +
         " a slot for each iteration that may be under way (it has " + std::to_string(slots) + ")";
}

}  // namespace

std::string what_holds_back(const Plan& plan, OpId op, std::int64_t iteration) {
  std::vector<std::string> gates = own_gates(plan, op, iteration);
  add_queue_gates(plan, op, iteration, gates);
  add_thread_gate(plan, op, gates);
  std::string out;
  for (std::size_t i = 0; i < std::min(gates.size(), kMostGates); ++i) {
    out += (i > 0 ? "; " : "") + gates[i];
  }
  return gates.size() > kMostGates ? out + "; …" : out;
}

std::string how_to_order(const Plan& plan, const Finding& finding) {
  if (finding.ops.size() < 2) return "";
  const OpId first = finding.ops[0];
  const OpId second = finding.ops[1];
  const std::int64_t distance =
      finding.iteration.size() > 1 ? finding.iteration[1] - finding.iteration[0] : 0;
  const std::string a = quoted(plan.ops[first].name);
  const std::string b = quoted(plan.ops[second].name);
  const std::string add_after = "add " + after_json(plan, first, distance) + " to " + b;
  const std::string elsewhere = other_bytes(plan, finding, distance);
  const QueueId queue = plan.ops[first].queue;
  if (queue == plan.ops[second].queue || queue == kNone<QueueId> || distance > 1) {
    return add_after + elsewhere;
  }
  EventId event = kNone<EventId>;
  if (distance == 0) {
    if (const OpId record = record_between(plan, first, second, event); record != kNone<OpId>) {
      return "make " + b + " wait for event " + quoted(plan.events[event]) + ", which " +
             quoted(plan.ops[record].name) + " records after " + a + elsewhere;
    }
    if (const OpId record = record_too_early(plan, first, second, event); record != kNone<OpId>) {
      return "event " + quoted(plan.events[event]) + " is recorded (" +
             quoted(plan.ops[record].name) + ") before " + a + ": record it after " + a + "; or " +
             add_after + elsewhere;
    }
  }
  return "record an event after " + a + " on " + queue_words(plan, first) + " and wait for it in " +
         b + "; or " + add_after + elsewhere;
}

}  // namespace memverify
