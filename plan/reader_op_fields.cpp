// The keys of an op, and of its accesses, waits and signals.
#include <string>
#include <utility>
#include <vector>

#include "plan/plain_item.h"
#include "plan/reader_fields.h"

namespace memverify {
namespace {

// Accesses.

constexpr Field kTensorKey = {"tensor", [](PlanFields& f) { return id_slot(f.access->tensor); },
                              nullptr, true};
constexpr Field kOffsetKey = {"offset",
                              [](PlanFields& f) { return expr_slot(f.access->offset.emplace()); }};
constexpr Field kBytesKey = {"bytes",
                             [](PlanFields& f) { return expr_slot(f.access->bytes.emplace()); }};
constexpr Field kDistanceKey = {"distance",
                                [](PlanFields& f) { return integer_slot(f.access->distance); }};

constexpr Field kReadFields[] = {
    kTensorKey, kOffsetKey, kBytesKey, kDistanceKey, {"from", [](PlanFields& f) {
                                                        return id_slot(f.access->from);
                                                      }}};
constexpr ObjectFields kRead = {"a read", kReadFields};

constexpr Field kWriteFields[] = {kTensorKey, kOffsetKey, kBytesKey, kDistanceKey};
constexpr ObjectFields kWrite = {"a write", kWriteFields};

constexpr Field kAccumulateFields[] = {
    kTensorKey, kOffsetKey, kBytesKey, kDistanceKey, {"op", [](PlanFields& f) {
                                                        return id_slot(f.access->update);
                                                      }}};
constexpr ObjectFields kAccumulate = {"an accumulate", kAccumulateFields};

constexpr Field kClobberFields[] = {
    {"tensor", [](PlanFields& f) { return id_slot(f.access->tensor); }},
    {"pool", [](PlanFields& f) { return id_slot(f.access->pool); }},
    kOffsetKey,
    kBytesKey,
    kDistanceKey};
constexpr ObjectFields kClobber = {"a clobber", kClobberFields, [](PlanFields& f) {
                                     if (f.access->tensor.empty() == f.access->pool.empty()) {
                                       f.fault = "a clobber names either a `tensor` or a `pool`";
                                     }
                                   }};

/// A list of accesses of one kind.
template <const ObjectFields& kAccess>
constexpr ListFields kAccessList = {"an array of tensor ids or access objects",
                                    [](PlanFields& f, std::size_t) {
                                      f.access = &f.accesses->emplace_back();
                                      return id_or_object_slot<kAccess>(f.access->tensor);
                                    }};

template <std::vector<AccessSpec> OpSpec::*kMember, const ObjectFields& kAccess>
Slot access_slot(PlanFields& f) {
  f.accesses = &(f.op->*kMember);
  return list_slot<kAccessList<kAccess>>();
}

// Order: in_place, after, waits, signals.

constexpr ListFields kInPlacePair = {"[read, written] or [read, written, \"any\"]",
                                     [](PlanFields& f, std::size_t index) {
                                       if (index == 0) return id_slot(f.in_place->read);
                                       if (index == 1) return id_slot(f.in_place->written);
                                       f.in_place->any = true;
                                       return id_slot(f.string);
                                     },
                                     nullptr, 2, 3};

constexpr ListFields kInPlace = {"an array of pairs",
                                 [](PlanFields& f, std::size_t) {
                                   f.in_place = &f.op->in_place.emplace_back();
                                   return list_slot<kInPlacePair>();
                                 },
                                 [](PlanFields& f) {
                                   if (f.in_place->any && f.string != "any") {
                                     f.fault =
                                         "the third entry of an in-place pair must be "
                                         "\"any\"";
                                   }
                                 }};

constexpr Field kAfterFields[] = {
    {"op", [](PlanFields& f) { return id_slot(f.after->op); }, nullptr, true},
    {"distance", [](PlanFields& f) { return integer_slot(f.after->distance); }},
};
constexpr ObjectFields kAfterObject = {"an entry of after", kAfterFields};

constexpr ListFields kAfter = {"an array of op ids or objects", [](PlanFields& f, std::size_t) {
                                 f.after = &f.op->after.emplace_back();
                                 return id_or_object_slot<kAfterObject>(f.after->op);
                               }};

constexpr Field kEventKey = {"event", [](PlanFields& f) { return id_slot(f.sync.event); }};
constexpr Field kSemaphoreKey = {"semaphore",
                                 [](PlanFields& f) { return id_slot(f.sync.semaphore); }};
constexpr Field kValueKey = {"value",
                             [](PlanFields& f) { return expr_slot(f.sync.value.emplace()); }};

constexpr Field kWaitFields[] = {
    kEventKey,
    kSemaphoreKey,
    kValueKey,
    {"consume", [](PlanFields& f) { return boolean_slot(f.sync.consume.emplace()); }},
    {"queue", [](PlanFields& f) { return id_slot(f.sync.queue); }},
    {"pending", [](PlanFields& f) { return integer_slot(f.sync.pending.emplace()); }},
    {"outstanding", [](PlanFields& f) { return integer_slot(f.sync.outstanding.emplace()); }},
};

/// Turns what was written into a wait. `bare_queue`: `{"queue"}` alone is one.
void end_wait(PlanFields& f, bool bare_queue) {
  const SyncFields& s = f.sync;
  const int targets =
      (s.event.empty() ? 0 : 1) + (s.semaphore.empty() ? 0 : 1) + (s.queue.empty() ? 0 : 1);
  if (targets != 1) {
    f.fault = "a wait names one of `event`, `semaphore` and `queue`";
  } else if (s.semaphore.empty() && (s.value || s.consume)) {
    f.fault = "`value` and `consume` go with `semaphore`";
  } else if (s.queue.empty() && (s.pending || s.outstanding)) {
    f.fault = "`pending` and `outstanding` go with `queue`";
  } else if (s.pending && s.outstanding) {
    f.fault = "a wait has either `pending` or `outstanding`";
  } else if (!s.queue.empty() && !s.pending && !s.outstanding && !bare_queue) {
    f.fault = "a wait for a queue needs `pending` or `outstanding`";
  } else if (!s.event.empty()) {
    f.wait = {.kind = WaitKind::kEvent, .target = s.event};
  } else if (!s.semaphore.empty()) {
    f.wait = {.kind = WaitKind::kSemaphore,
              .target = s.semaphore,
              .value = s.value.value_or(std::int64_t{1}),
              .consume = s.consume.value_or(false)};
  } else if (s.pending) {
    f.wait = {.kind = WaitKind::kPending, .target = s.queue, .value = *s.pending};
  } else if (s.outstanding) {
    f.wait = {.kind = WaitKind::kOutstanding, .target = s.queue, .value = *s.outstanding};
  } else {
    f.wait = {.kind = WaitKind::kQueue, .target = s.queue};
  }
}
constexpr ObjectFields kWait = {"a wait", kWaitFields, [](PlanFields& f) { end_wait(f, false); }};
constexpr ObjectFields kHostWait = {"a host wait", kWaitFields,
                                    [](PlanFields& f) { end_wait(f, true); }};

constexpr ListFields kWaits = {"an array of waits",
                               [](PlanFields& f, std::size_t) {
                                 f.sync = {};
                                 f.wait = {};
                                 return object_slot<kWait>();
                               },
                               [](PlanFields& f) { f.op->waits.push_back(f.wait); }};

constexpr Field kSignalFields[] = {kEventKey, kSemaphoreKey, kValueKey};
constexpr ObjectFields kSignal = {
    "a signal", kSignalFields, [](PlanFields& f) {
      const SyncFields& s = f.sync;
      if (s.event.empty() == s.semaphore.empty()) {
        f.fault = "a signal names either an `event` or a `semaphore`";
      } else if (s.value && s.semaphore.empty()) {
        f.fault = "`value` goes with `semaphore`";
      }
      f.signal = {s.event, s.semaphore, s.value.value_or(std::int64_t{1})};
    }};

constexpr ListFields kSignals = {"an array of signals",
                                 [](PlanFields& f, std::size_t) {
                                   f.sync = {};
                                   f.signal = {};
                                   return object_slot<kSignal>();
                                 },
                                 [](PlanFields& f) { f.op->signals.push_back(f.signal); }};

// Ops.

constexpr ObjectFields kWhen = {.what = "when", .entry = [](PlanFields& f, std::string_view key) {
                                  WhenSpec& term = f.op->when.emplace_back();
                                  term.condition = key;
                                  return boolean_slot(term.value);
                                }};

constexpr Field kLocationFields[] = {
    {"file", [](PlanFields& f) { return text_slot(f.op->location->file); }, nullptr, true},
    {"line", [](PlanFields& f) { return integer_slot(f.op->location->line); }},
};
constexpr ObjectFields kLocation = {"a location", kLocationFields};

constexpr ListFields kDuration = {
    "an array of two integers",
    [](PlanFields& f, std::size_t index) {
      return integer_slot(index == 0 ? f.op->duration->min : f.op->duration->max);
    },
    nullptr, 2, 2};

// The common keys first, in the order in which they are usually written: that is found fastest.
constexpr Field kOpFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.op->name); }, nullptr, true},
    {"kind", [](PlanFields& f) { return id_slot(f.op->kind); }},
    {"label", [](PlanFields& f) { return text_slot(f.op->label); }},
    {"loc",
     [](PlanFields& f) {
       f.op->location.emplace();
       return object_slot<kLocation>();
     }},
    {"queue", [](PlanFields& f) { return id_slot(f.op->queue); }},
    {"reads", access_slot<&OpSpec::reads, kRead>},
    {"writes", access_slot<&OpSpec::writes, kWrite>},
    {"accumulates", access_slot<&OpSpec::accumulates, kAccumulate>},
    {"clobbers", access_slot<&OpSpec::clobbers, kClobber>},
    {"in_place", [](PlanFields&) { return list_slot<kInPlace>(); }},
    {"after", [](PlanFields&) { return list_slot<kAfter>(); }},
    {"waits", [](PlanFields&) { return list_slot<kWaits>(); }},
    {"signals", [](PlanFields&) { return list_slot<kSignals>(); }},
    {"when", [](PlanFields&) { return map_slot<kWhen>(); }},
    {"skipped", [](PlanFields& f) { return id_slot(f.op->skipped); }},
    {"runs", [](PlanFields& f) { return id_slot(f.op->runs); }},
    {"duration",
     [](PlanFields& f) {
       f.op->duration.emplace();
       return list_slot<kDuration>();
     }},
    {"queues",
     [](PlanFields& f) {
       f.strings = &f.op->queues;
       return list_slot<kStrings>();
     }},
    {"thread", [](PlanFields& f) { return id_slot(f.op->thread); }},
    {"event", [](PlanFields& f) { return id_slot(f.op->event); }},
    {"storage", [](PlanFields& f) { return id_slot(f.op->storage); }},
    {"for",
     [](PlanFields& f) {
       f.string = {};
       f.sync = {};
       f.wait = {};
       return Slot{.expected = "\"all\" or an object",
                   .string = &f.string,
                   .object = &kHostWait,
                   .plain_object = plain_object<kHostWait>};
     },
     [](PlanFields& f) {
       if (f.string == "all") {
         f.wait.kind = WaitKind::kAll;
       } else if (!f.string.empty()) {
         f.fault = "expected \"all\" or an object, found \"" + std::string(f.string) + "\"";
       }
       f.op->wait_for = f.wait;
     }},
};
constexpr ObjectFields kOp = {"an op", kOpFields};

/// A new op that keeps the memory of the last one's lists.
void clear(OpSpec& op) {
  // A member that is missing here is an error.
  auto& [name, kind, label, queue, thread, event, storage, skipped, runs, reads, writes,
         accumulates, clobbers, in_place, after, waits, wait_for, signals, when, queues, location,
         duration] = op;
  const auto reset = [](auto&... members) { ((members = {}), ...); };
  reset(name, kind, label, queue, thread, event, storage, skipped, runs);
  reset(wait_for, location, duration);
  const auto empty = [](auto&... lists) { (lists.clear(), ...); };
  empty(reads, writes, accumulates, clobbers, in_place, after, waits, signals, when, queues);
}

}  // namespace

constexpr ListFields kOps = {"an array of ops",
                             [](PlanFields& f, std::size_t) {
                               f.op = &f.feed.next<OpSpec>();
                               clear(*f.op);
                               return object_slot<kOp>();
                             },
                             [](PlanFields& f) { f.feed.add(); },
                             0,
                             kNoLimit,
                             true};

}  // namespace memverify
