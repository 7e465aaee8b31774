// The part of the writer for ops: accesses, order, waits and signals.
#include <string_view>

#include "plan/plan_text.h"

namespace memverify {
namespace {

void write_location(PlanText& text, OpId id, const Op& op) {
  const std::uint32_t number = text.plan().details_of(op).location;
  if (number == OpDetails::kAbsent) return;
  const SourceLocation& location = text.plan().locations[number];
  text.key("loc");
  text.open('{');
  text.field("file", location.file);
  if (location.line != 0) text.field("line", location.line);
  text.extras({"ops", index(id), "loc"});
  text.close('}');
}

bool has_default_update(const Access& access) { return access.update == UpdateId{0}; }

/// True iff the access is nothing but its tensor's id.
bool is_plain(const Access& access) {
  return access.pool == kNone<PoolId> && access.part == Access::kWhole && access.distance == 0 &&
         access.from == kNone<OpId> && !access.from_initial && has_default_update(access);
}

void write_access(PlanText& text, const Access& access) {
  const Plan& plan = text.plan();
  if (access.pool != kNone<PoolId>) {
    text.field("pool", plan.pools[access.pool].name);
  } else {
    text.field("tensor", plan.tensors[access.tensor].name);
  }
  if (access.part != Access::kWhole) {
    const Part& part = plan.parts[access.part];
    text.field("offset", part.offset);
    if (part.bytes) text.field("bytes", *part.bytes);
  }
  if (access.distance != 0) text.field("distance", std::int64_t{access.distance});
  text.version(access.from, access.from_initial);
  if (!has_default_update(access)) text.field("op", plan.updates[access.update]);
}

void write_accesses(PlanText& text, OpId id, AccessKind kind, std::string_view list) {
  std::uint32_t entry = 0;
  for (const Access& access : text.plan().accesses_of(text.plan().ops[id])) {
    if (access.kind != kind) continue;
    if (entry == 0) {
      text.key(list);
      text.open('[');
    }
    text.next();
    if (is_plain(access) && !text.has_extras({"ops", index(id), list, entry})) {
      text.value(text.plan().tensors[access.tensor].name);
    } else {
      text.open('{');
      write_access(text, access);
      text.extras({"ops", index(id), list, entry});
      text.close('}');
    }
    ++entry;
  }
  if (entry != 0) text.close(']');
}

void write_in_place(PlanText& text, const Op& op) {
  if (text.plan().in_place_of(op).empty()) return;
  text.key("in_place");
  text.open('[');
  for (const InPlace& pair : text.plan().in_place_of(op)) {
    text.next();
    text.open('[');
    text.next();
    text.value(text.plan().tensors[pair.read].name);
    text.next();
    text.value(text.plan().tensors[pair.written].name);
    if (pair.any) {
      text.next();
      text.value(std::string_view("any"));
    }
    text.close(']');
  }
  text.close(']');
}

void write_after(PlanText& text, OpId id, const Op& op) {
  if (op.after.empty()) return;
  text.key("after");
  text.open('[');
  std::uint32_t entry = 0;
  for (const After& after : text.plan().after_of(op)) {
    const std::string_view other = text.plan().ops[after.op].name;
    text.next();
    if (after.distance == 0 && !text.has_extras({"ops", index(id), "after", entry})) {
      text.value(other);
    } else {
      text.open('{');
      text.field("op", other);
      if (after.distance != 0) text.field("distance", std::int64_t{after.distance});
      text.extras({"ops", index(id), "after", entry});
      text.close('}');
    }
    ++entry;
  }
  text.close(']');
}

void write_wait(PlanText& text, const Wait& wait) {
  const Plan& plan = text.plan();
  switch (wait.kind) {
    case WaitKind::kEvent:
      text.field("event", plan.events[wait.event]);
      break;
    case WaitKind::kSemaphore:
      text.field("semaphore", plan.semaphores[wait.semaphore].name);
      if (!is_constant(wait.value, 1)) text.field("value", wait.value);
      if (wait.consume) text.flag("consume", true);
      break;
    case WaitKind::kPending:
    case WaitKind::kOutstanding:
      text.field("queue", plan.queues[wait.queue].name);
      text.field(value_key(wait.kind), wait.value);
      break;
    case WaitKind::kQueue:
      text.field("queue", plan.queues[wait.queue].name);
      break;
    case WaitKind::kAll:
      break;
  }
}

void write_host_wait(PlanText& text, OpId id, const Wait& wait) {
  text.key("for");
  if (wait.kind == WaitKind::kAll) {
    text.value(std::string_view("all"));
    return;
  }
  text.open('{');
  write_wait(text, wait);
  text.extras({"ops", index(id), "for"});
  text.close('}');
}

void write_waits(PlanText& text, OpId id, const Op& op) {
  if (op.waits.empty()) return;
  if (op.kind == OpKind::kHostWait) {
    write_host_wait(text, id, text.plan().waits[op.waits.begin]);
    return;
  }
  text.key("waits");
  text.open('[');
  std::uint32_t entry = 0;
  for (const Wait& wait : text.plan().waits_of(op)) {
    text.next();
    text.open('{');
    write_wait(text, wait);
    text.extras({"ops", index(id), "waits", entry++});
    text.close('}');
  }
  text.close(']');
}

void write_signals(PlanText& text, OpId id, const Op& op) {
  if (op.signals.empty()) return;
  text.key("signals");
  text.open('[');
  std::uint32_t entry = 0;
  for (const Signal& signal : text.plan().signals_of(op)) {
    text.next();
    text.open('{');
    if (signal.event != kNone<EventId>) {
      text.field("event", text.plan().events[signal.event]);
    } else {
      text.field("semaphore", text.plan().semaphores[signal.semaphore].name);
      if (!is_constant(signal.value, 1)) text.field("value", signal.value);
    }
    text.extras({"ops", index(id), "signals", entry++});
    text.close('}');
  }
  text.close(']');
}

void write_when(PlanText& text, const Op& op) {
  if (text.plan().when_of(op).empty()) return;
  text.key("when");
  text.open('{');
  for (const WhenTerm& term : text.plan().when_of(op)) {
    text.flag(text.plan().conditions[term.condition].name, term.value);
  }
  text.close('}');
}

}  // namespace

void write_op(PlanText& text, OpId id) {
  const Plan& plan = text.plan();
  const Op& op = plan.ops[id];
  const OpDetails& details = plan.details_of(op);
  text.field("id", op.name);
  if (op.kind != OpKind::kOp) text.field("kind", name(op.kind));
  if (!details.label.empty()) text.field("label", details.label);
  write_location(text, id, op);
  ThreadId default_thread{0};
  if (op.queue != kNone<QueueId>) {
    text.field("queue", plan.queues[op.queue].name);
    default_thread = plan.queues[op.queue].thread;
  }
  if (!details.queues.empty()) text.names("queues", plan.queues_of(op), plan.queues);
  if (op.thread != default_thread) text.field("thread", plan.threads[op.thread]);
  if (op.event != kNone<EventId>) text.field("event", plan.events[op.event]);
  if (op.storage != kNone<StorageId>) text.field("storage", plan.storages[op.storage].name);
  write_accesses(text, id, AccessKind::kRead, "reads");
  write_accesses(text, id, AccessKind::kWrite, "writes");
  write_accesses(text, id, AccessKind::kAccumulate, "accumulates");
  write_accesses(text, id, AccessKind::kClobber, "clobbers");
  write_in_place(text, op);
  write_after(text, id, op);
  write_waits(text, id, op);
  write_signals(text, id, op);
  write_when(text, op);
  if (op.skipped_pass) text.field("skipped", std::string_view("pass"));
  if (op.runs != Runs::kAlways) {
    text.field("runs", std::string_view(op.runs == Runs::kFirst ? "first" : "last"));
  }
  if (details.duration != OpDetails::kAbsent) {
    const Duration& duration = plan.durations[details.duration];
    text.pair("duration", duration.min, duration.max);
  }
}

}  // namespace memverify
