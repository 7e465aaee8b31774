// What orders a racing pair now, and the cheapest edge that would.
#include <algorithm>
#include <string>
#include <vector>

#include "plan/advice.h"
#include "plan/describe.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMostGates = 4;      ///< Named in one message.
constexpr std::size_t kMostCounted = 100;  ///< Looked for.

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
    if (!always_runs(plan, plan.ops[after.op])) text += " (where it runs)";
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
  for (std::uint32_t step = 1; step <= steps && gates.size() < kMostCounted; ++step) {
    const bool earlier_iteration = step > index(id);
    const OpId before = static_cast<OpId>((index(id) + size - step) % size);
    const Op& op = plan.ops[before];
    if (!on_queue(plan, op, queue)) continue;
    if (op.kind == OpKind::kWait) {
      for (std::string gate : own_gates(plan, before, iteration)) {
        if (!always_runs(plan, op)) gate += " (through " + quoted(op.name) + ", where it runs)";
        gates.push_back(std::move(gate));
      }
      continue;
    }
    std::string who = quoted(op.name);
    if (earlier_iteration) who += " of the iteration before";
    if (!always_runs(plan, op)) who += " (where it runs)";
    if (op.kind == OpKind::kBarrier) {
      gates.push_back("barrier " + who);
      continue;
    }
    switch (plan.queues[queue].order) {
      case QueueOrder::kSerial:
      case QueueOrder::kHost:
        gates.push_back(who + (earlier_iteration ? "" : " before it") + on);
        if (always_runs(plan, op)) return;
        break;
      case QueueOrder::kIssue:
        gates.push_back("the start (not the completion) of " + who + on);
        if (always_runs(plan, op)) return;
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
    if (op.kind != OpKind::kRecord || op.queue != queue || !always_runs(plan, op)) continue;
    if (bound_record(plan, second, op.event) != record) continue;
    event = op.event;
    return record;
  }
  return kNone<OpId>;
}

/// An event that `first` itself signals and a wait in `second` would bind to; kNone if none.
EventId event_signalled(const Plan& plan, OpId first, OpId second) {
  for (const Signal& signal : plan.signals_of(plan.ops[first])) {
    if (signal.event == kNone<EventId>) continue;
    if (bound_record(plan, second, signal.event) == first) return signal.event;
  }
  return kNone<EventId>;
}

/// Calls `visit(waiter, event)` for the waits for events in `second` and on its queue before it (at
/// most 8 of those), until one returns true.
template <typename Visit>
bool some_event_wait(const Plan& plan, OpId second, Visit visit) {
  for (const Wait& wait : plan.waits_of(plan.ops[second])) {
    if (wait.kind == WaitKind::kEvent && visit(second, wait.event)) return true;
  }
  const std::uint32_t last = index(second) > kLookBack ? index(second) - kLookBack : 0U;
  int looked_at = 0;
  for (std::uint32_t at = index(second); at > last && looked_at < 8; --at) {
    const OpId waiter = static_cast<OpId>(at - 1);
    const Op& op = plan.ops[waiter];
    if (op.kind != OpKind::kWait || op.queue != plan.ops[second].queue) continue;
    ++looked_at;
    if (visit(waiter, op.event)) return true;
  }
  return false;
}

/// A record on the queue of `first` but before it, for whose event `second` or a wait on its queue
/// waits; kNone if none.
OpId record_too_early(const Plan& plan, OpId first, OpId second, EventId& event) {
  OpId found = kNone<OpId>;
  some_event_wait(plan, second, [&](OpId waiter, EventId waited) {
    event = waited;
    found = bound_record(plan, waiter, waited);
    if (found != kNone<OpId> && found < first && plan.ops[found].kind == OpKind::kRecord &&
        plan.ops[found].queue == plan.ops[first].queue) {
      return true;
    }
    found = kNone<OpId>;
    return false;
  });
  return found;
}

/// The records after `first` on its queue, at most 8: their names stand for it in waits.
std::vector<OpId> told_by(const Plan& plan, OpId first) {
  std::vector<OpId> records;
  const QueueId queue = plan.ops[first].queue;
  for (std::uint32_t at = index(first) + 1; at < plan.ops.size() && records.size() < 8; ++at) {
    const Op& op = plan.ops[static_cast<OpId>(at)];
    if (op.kind == OpKind::kRecord && op.queue == queue) records.push_back(static_cast<OpId>(at));
  }
  return records;
}

/// "remove "when" from `wait`" if a wait that some runs drop would do; "".
std::string conditional_wait(const Plan& plan, OpId first, OpId second) {
  std::string out;
  some_event_wait(plan, second, [&](OpId waiter, EventId event) {
    const Op& op = plan.ops[waiter];
    const OpId record = bound_record(plan, waiter, event);
    if (waiter == second || plan.when_of(op).empty() || op.runs != Runs::kAlways) return false;
    if (record == kNone<OpId> || record < first || !always_runs(plan, plan.ops[record]))
      return false;
    if (record != first && plan.ops[record].queue != plan.ops[first].queue) return false;
    out = "remove \"when\" from " + quoted(op.name) + "; or ";
    return true;
  });
  return out;
}

/// Says that a record after `first` is hidden by a later one of the same event; "".
std::string hidden_record(const Plan& plan, OpId first, OpId second) {
  std::string out;
  some_event_wait(plan, second, [&](OpId waiter, EventId event) {
    const OpId bound = bound_record(plan, waiter, event);
    if (bound == kNone<OpId> || bound <= first || bound >= waiter) return false;
    for (std::uint32_t at = index(first) + 1; at < index(bound); ++at) {
      const Op& op = plan.ops[static_cast<OpId>(at)];
      if (op.kind != OpKind::kRecord || op.event != event || !always_runs(plan, op)) continue;
      if (op.queue != plan.ops[first].queue || plan.ops[bound].queue == op.queue) continue;
      out = "event " + quoted(plan.events[event]) + " is recorded by " + quoted(op.name) +
            " after " + quoted(plan.ops[first].name) + ", but again by " +
            quoted(plan.ops[bound].name) +
            " before the wait: give the second another event, and "
            "wait for both; or ";
      return true;
    }
    return false;
  });
  return out;
}

/// Where else the second op's bytes could lie; "" when both mean the same family.
std::string other_bytes(const Plan& plan, const Finding& finding) {
  if (finding.tensors.size() < 2) return "";
  const TensorId first = finding.tensors[0];
  const TensorId second = finding.tensors[1];
  if (first == kNone<TensorId> || second == kNone<TensorId>) return "";
  if (plan.tensors[first].root == plan.tensors[second].root) return "";
  return "; or give " + quoted(plan.tensors[second].name) + " bytes that " +
         quoted(plan.tensors[first].name) + " does not use";
}

/// Where the first op of an MV102 writes another value over the one that the second means, waiting
/// for it would not help: the second is to come first. "" elsewhere.
std::string let_reader_go_first(const Plan& plan, const Finding& finding) {
  const OpId writer = finding.ops[0];
  const OpId reader = finding.ops[1];
  if (finding.rule != Rule::kRaw || repeats(plan) || finding.tensors.size() < 2) return "";
  const TensorId written = finding.tensors[0];
  const TensorId read = finding.tensors[1];
  if (read == kNone<TensorId> || is_family(plan, written, read)) return "";
  for (std::uint32_t at = index(writer) + 1; at < index(reader); ++at) {
    for (const Access& access : plan.accesses_of(plan.ops[static_cast<OpId>(at)])) {
      if (access.kind == AccessKind::kWrite && is_family(plan, access.tensor, read)) return "";
    }
  }
  std::string elsewhere = written == kNone<TensorId>
                              ? "let " + quoted(plan.ops[writer].name) + " clobber"
                              : "give " + quoted(plan.tensors[written].name);
  elsewhere += " bytes that " + quoted(plan.tensors[read].name) + " does not use";
  if (!may_run_after(plan, writer, reader, read)) return elsewhere;
  return "list " + quoted(plan.ops[writer].name) + " after " + quoted(plan.ops[reader].name) +
         " in \"ops\" and " + make_wait(plan, writer, reader, 0) + "; or " + elsewhere;
}

/// The "after" of the second op that names the first, but another iteration; "" if none.
std::string wrong_distance(const Plan& plan, OpId first, OpId second, std::int64_t distance) {
  for (const After& after : plan.after_of(plan.ops[second])) {
    if (after.op != first || after.distance == distance) continue;
    return "change the distance of " + quoted(plan.ops[first].name) + " in the \"after\" of " +
           quoted(plan.ops[second].name) + " from " + std::to_string(after.distance) + " to " +
           std::to_string(distance);
  }
  return "";
}

/// Iterations from the last instance of `first` that `second` must wait for back to `second`: where
/// that one runs in the last iteration alone, the first found is not the last one.
std::int64_t distance_to_last(const Plan& plan, const Finding& finding) {
  if (finding.iteration.size() < 2) return 0;
  const Op& first = plan.ops[finding.ops[0]];
  if (plan.ops[finding.ops[1]].runs == Runs::kLast && first.runs == Runs::kAlways) {
    return finding.ops[0] < finding.ops[1] ? 0 : 1;
  }
  return finding.iteration[1] - finding.iteration[0];
}

}  // namespace

std::string what_holds_back(const Plan& plan, OpId op, std::int64_t iteration, OpId other) {
  std::vector<std::string> gates = own_gates(plan, op, iteration);
  add_queue_gates(plan, op, iteration, gates);
  add_thread_gate(plan, op, gates);
  if (other != kNone<OpId> && gates.size() > kMostGates) {
    std::vector<std::string> names{quoted(plan.ops[other].name)};
    if (plan.ops[other].queue != kNone<QueueId>) {
      names.push_back("queue " + quoted(plan.queues[plan.ops[other].queue].name));
    }
    for (const OpId id : told_by(plan, other)) names.push_back(quoted(plan.ops[id].name));
    std::stable_partition(gates.begin(), gates.end(), [&](const std::string& gate) {
      return std::ranges::any_of(
          names, [&](const std::string& name) { return gate.find(name) != std::string::npos; });
    });
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(gates.size(), kMostGates); ++i) {
    out += (i > 0 ? "; " : "") + gates[i];
  }
  if (gates.size() <= kMostGates) return out;
  return out + "; and " + std::to_string(gates.size() - kMostGates) +
         (gates.size() >= kMostCounted ? " or more others" : " more");
}

std::string how_to_order(const Plan& plan, const Finding& finding) {
  if (finding.ops.size() < 2) return "";
  const OpId first = finding.ops[0];
  const OpId second = finding.ops[1];
  const std::int64_t distance = distance_to_last(plan, finding);
  const std::string a = quoted(plan.ops[first].name);
  const std::string b = quoted(plan.ops[second].name);
  const std::string add_after = "add " + after_json(plan, first, distance) + " to " + b;
  const std::string elsewhere = other_bytes(plan, finding);
  if (std::string turned = let_reader_go_first(plan, finding); !turned.empty()) return turned;
  if (const std::string other = wrong_distance(plan, first, second, distance); !other.empty()) {
    return other + elsewhere;
  }
  const QueueId queue = plan.ops[first].queue;
  if (queue == plan.ops[second].queue || queue == kNone<QueueId> || distance > 1) {
    return add_after + elsewhere;
  }
  EventId event = kNone<EventId>;
  if (distance == 0) {
    if (const std::string drop = conditional_wait(plan, first, second); !drop.empty()) {
      return drop + add_after + elsewhere;
    }
    event = event_signalled(plan, first, second);
    if (event != kNone<EventId> && always_runs(plan, plan.ops[first])) {
      return "make " + b + " wait for event " + quoted(plan.events[event]) + ", which " + a +
             " signals" + elsewhere;
    }
    if (const std::string hidden = hidden_record(plan, first, second); !hidden.empty()) {
      return hidden + add_after + elsewhere;
    }
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
  return "record a new event after " + a + " on " + queue_words(plan, first) +
         " and wait for it in " + b + "; or " + add_after + elsewhere;
}

}  // namespace memverify
