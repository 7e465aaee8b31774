#include "plan/reader_fields.h"

#include <utility>

namespace memverify {
namespace {

// What a slot may hold, in words and pointers.

Slot id_slot(std::string_view& target) { return {.expected = "a string", .string = &target}; }
Slot text_slot(std::string_view& target) {
  return {.expected = "a string", .string = &target, .may_be_empty = true};
}
Slot integer_slot(std::int64_t& target) { return {.expected = "an integer", .integer = &target}; }
Slot boolean_slot(bool& target) { return {.expected = "true or false", .boolean = &target}; }
Slot expr_slot(ExprSpec& target) {
  return {.expected = "an integer or an expression string", .expr = &target};
}
Slot list_slot(const ListFields& list) { return {.expected = list.expected, .list = &list}; }
Slot object_slot(const ObjectFields& object) {
  return {.expected = "an object", .object = &object};
}
Slot id_or_object_slot(std::string_view& target, const ObjectFields& object) {
  return {.expected = "a string or an object", .string = &target, .object = &object};
}

constexpr ListFields kExprs = {
    "an array of integers or expression strings",
    [](PlanFields& f, std::size_t) { return expr_slot(f.exprs->emplace_back()); }};

constexpr ListFields kStrings = {"an array of strings", [](PlanFields& f, std::size_t) {
                                   return id_slot(f.strings->emplace_back());
                                 }};

// Symbols, conditions, pools, queues, semaphores.

constexpr Field kSymbolFields[] = {
    {"min", [](PlanFields& f) { return integer_slot(f.symbol.min); }},
    {"max", [](PlanFields& f) { return integer_slot(f.symbol.max.emplace()); }},
    {"multiple_of", [](PlanFields& f) { return integer_slot(f.symbol.multiple_of); }},
};
constexpr ObjectFields kSymbol = {"a symbol", kSymbolFields};

constexpr ObjectFields kSymbols = {
    .what = "symbols",
    .entry =
        [](PlanFields& f, std::string_view key) {
          f.symbol = {.name = key};
          return object_slot(kSymbol);
        },
    .after_entry = [](PlanFields& f) { f.builder.add_symbol(f.symbol); }};

constexpr Field kConditionFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.condition.name); }, nullptr, true},
    {"per", [](PlanFields& f) { return id_slot(f.condition.per); }},
};
constexpr ObjectFields kCondition = {"a condition", kConditionFields};

constexpr ListFields kConditions = {"an array of conditions",
                                    [](PlanFields& f, std::size_t) {
                                      f.condition = {};
                                      return id_or_object_slot(f.condition.name, kCondition);
                                    },
                                    [](PlanFields& f) { f.builder.add_condition(f.condition); }};

constexpr Field kPoolFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.pool.name); }, nullptr, true},
    {"bytes", [](PlanFields& f) { return expr_slot(f.pool.bytes.emplace()); }},
    {"alignment", [](PlanFields& f) { return integer_slot(f.pool.alignment); }},
    {"kind", [](PlanFields& f) { return text_slot(f.pool.kind); }},
};
constexpr ObjectFields kPool = {"a pool", kPoolFields};

constexpr ListFields kPools = {"an array of pools",
                               [](PlanFields& f, std::size_t) {
                                 f.pool = {};
                                 return object_slot(kPool);
                               },
                               [](PlanFields& f) { f.builder.add_pool(f.pool); }};

constexpr ListFields kDelay = {
    "an array of two integers",
    [](PlanFields& f, std::size_t index) {
      return integer_slot(index == 0 ? f.queue.delay_min : f.queue.delay_max);
    },
    nullptr, 2, 2};

constexpr Field kQueueFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.queue.name); }, nullptr, true},
    {"order", [](PlanFields& f) { return id_slot(f.queue.order); }},
    {"depth", [](PlanFields& f) { return integer_slot(f.queue.depth.emplace()); }},
    {"delay", [](PlanFields&) { return list_slot(kDelay); }},
    {"thread", [](PlanFields& f) { return id_slot(f.queue.thread); }},
};
constexpr ObjectFields kQueue = {"a queue", kQueueFields};

constexpr ListFields kQueues = {"an array of queues",
                                [](PlanFields& f, std::size_t) {
                                  f.queue = {};
                                  return object_slot(kQueue);
                                },
                                [](PlanFields& f) { f.builder.add_queue(f.queue); }};

constexpr Field kSemaphoreFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.semaphore.name); }, nullptr, true},
    {"kind", [](PlanFields& f) { return id_slot(f.semaphore.kind); }},
    {"initial", [](PlanFields& f) { return expr_slot(f.semaphore.initial); }},
};
constexpr ObjectFields kSemaphore = {"a semaphore", kSemaphoreFields};

constexpr ListFields kSemaphores = {"an array of semaphores",
                                    [](PlanFields& f, std::size_t) {
                                      f.semaphore = {};
                                      return object_slot(kSemaphore);
                                    },
                                    [](PlanFields& f) { f.builder.add_semaphore(f.semaphore); }};

// Storages and tensors.

constexpr ListFields kSlotOffsets = {"an array of at least one integer or expression string",
                                     [](PlanFields& f, std::size_t) {
                                       f.storage.slots_are_array = true;
                                       return expr_slot(f.storage.slots.emplace_back());
                                     },
                                     nullptr, 1};

constexpr Field kStorageFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.storage.name); }, nullptr, true},
    {"pool", [](PlanFields& f) { return id_slot(f.storage.pool); }, nullptr, true},
    {"offset",
     [](PlanFields& f) {
       f.expr = std::int64_t{0};
       return Slot{.expected = "an integer, an expression string or an array of them",
                   .expr = &f.expr,
                   .list = &kSlotOffsets};
     },
     [](PlanFields& f) {
       if (!f.storage.slots_are_array) f.storage.slots.push_back(f.expr);
     },
     true},
    {"bytes", [](PlanFields& f) { return expr_slot(f.storage.bytes); }, nullptr, true},
};
constexpr ObjectFields kStorage = {"a storage", kStorageFields};

constexpr ListFields kStorages = {"an array of storages",
                                  [](PlanFields& f, std::size_t) {
                                    auto slots = std::move(f.storage.slots);
                                    slots.clear();
                                    f.storage = {.slots = std::move(slots)};
                                    return object_slot(kStorage);
                                  },
                                  [](PlanFields& f) { f.builder.add_storage(f.storage); }};

/// Gives `list` the memory of `spare`, empty.
std::vector<ExprSpec>* reuse(std::optional<std::vector<ExprSpec>>& list,
                             std::vector<ExprSpec>& spare) {
  spare.clear();
  return &list.emplace(std::move(spare));
}

constexpr Field kTensorFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.tensor.name); }, nullptr, true},
    {"storage", [](PlanFields& f) { return id_slot(f.tensor.storage); }},
    {"view_of", [](PlanFields& f) { return id_slot(f.tensor.view_of); }},
    {"offset", [](PlanFields& f) { return expr_slot(f.tensor.offset); }},
    {"bytes", [](PlanFields& f) { return expr_slot(f.tensor.bytes.emplace()); }},
    {"dtype", [](PlanFields& f) { return id_slot(f.tensor.dtype); }},
    {"shape",
     [](PlanFields& f) {
       f.exprs = reuse(f.tensor.shape, f.spare_shape);
       return list_slot(kExprs);
     }},
    {"strides",
     [](PlanFields& f) {
       f.exprs = reuse(f.tensor.strides, f.spare_strides);
       return list_slot(kExprs);
     }},
    {"alignment", [](PlanFields& f) { return integer_slot(f.tensor.alignment.emplace()); }},
    {"pool",
     [](PlanFields& f) {
       f.string = {};
       f.strings = &f.tensor.pools;
       return Slot{
           .expected = "a string or an array of strings", .string = &f.string, .list = &kStrings};
     },
     [](PlanFields& f) {
       if (f.tensor.pools.empty() && !f.string.empty()) f.tensor.pools.push_back(f.string);
     }},
    {"slots", [](PlanFields& f) { return integer_slot(f.tensor.slots.emplace()); }},
};
constexpr ObjectFields kTensor = {"a tensor", kTensorFields};

constexpr ListFields kTensors = {"an array of tensors",
                                 [](PlanFields& f, std::size_t) {
                                   TensorSpec& last = f.tensor;
                                   if (last.shape) f.spare_shape = *std::move(last.shape);
                                   if (last.strides) f.spare_strides = *std::move(last.strides);
                                   auto pools = std::move(last.pools);
                                   pools.clear();
                                   last = {.pools = std::move(pools)};
                                   return object_slot(kTensor);
                                 },
                                 [](PlanFields& f) { f.builder.add_tensor(f.tensor); }};

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
                                       f.fault =
                                           "a clobber names either a \"tensor\" or a \"pool\"";
                                     }
                                   }};

/// A list of accesses of one kind.
template <const ObjectFields& kAccess>
constexpr ListFields kAccessList = {"an array of tensor ids or access objects",
                                    [](PlanFields& f, std::size_t) {
                                      f.access = &f.accesses->emplace_back();
                                      return id_or_object_slot(f.access->tensor, kAccess);
                                    }};

template <std::vector<AccessSpec> OpSpec::*kMember, const ObjectFields& kAccess>
Slot access_slot(PlanFields& f) {
  f.accesses = &(f.op.*kMember);
  return list_slot(kAccessList<kAccess>);
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
                                   f.in_place = &f.op.in_place.emplace_back();
                                   return list_slot(kInPlacePair);
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
                                 f.after = &f.op.after.emplace_back();
                                 return id_or_object_slot(f.after->op, kAfterObject);
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
    f.fault = "a wait names one of \"event\", \"semaphore\" and \"queue\"";
  } else if (s.semaphore.empty() && (s.value || s.consume)) {
    f.fault = "\"value\" and \"consume\" go with \"semaphore\"";
  } else if (s.queue.empty() && (s.pending || s.outstanding)) {
    f.fault = "\"pending\" and \"outstanding\" go with \"queue\"";
  } else if (s.pending && s.outstanding) {
    f.fault = "a wait has either \"pending\" or \"outstanding\"";
  } else if (!s.queue.empty() && !s.pending && !s.outstanding && !bare_queue) {
    f.fault = "a wait for a queue needs \"pending\" or \"outstanding\"";
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
                                 return object_slot(kWait);
                               },
                               [](PlanFields& f) { f.op.waits.push_back(f.wait); }};

constexpr Field kSignalFields[] = {kEventKey, kSemaphoreKey, kValueKey};
constexpr ObjectFields kSignal = {
    "a signal", kSignalFields, [](PlanFields& f) {
      const SyncFields& s = f.sync;
      if (s.event.empty() == s.semaphore.empty()) {
        f.fault = "a signal names either an \"event\" or a \"semaphore\"";
      } else if (s.value && s.semaphore.empty()) {
        f.fault = "\"value\" goes with \"semaphore\"";
      }
      f.signal = {s.event, s.semaphore, s.value.value_or(std::int64_t{1})};
    }};

constexpr ListFields kSignals = {"an array of signals",
                                 [](PlanFields& f, std::size_t) {
                                   f.sync = {};
                                   f.signal = {};
                                   return object_slot(kSignal);
                                 },
                                 [](PlanFields& f) { f.op.signals.push_back(f.signal); }};

// Ops.

constexpr ObjectFields kWhen = {.what = "when", .entry = [](PlanFields& f, std::string_view key) {
                                  WhenSpec& term = f.op.when.emplace_back();
                                  term.condition = key;
                                  return boolean_slot(term.value);
                                }};

constexpr Field kLocationFields[] = {
    {"file", [](PlanFields& f) { return text_slot(f.op.location->file); }, nullptr, true},
    {"line", [](PlanFields& f) { return integer_slot(f.op.location->line); }},
};
constexpr ObjectFields kLocation = {"a location", kLocationFields};

constexpr ListFields kDuration = {
    "an array of two integers",
    [](PlanFields& f, std::size_t index) {
      return integer_slot(index == 0 ? f.op.duration->min : f.op.duration->max);
    },
    nullptr, 2, 2};

constexpr Field kOpFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.op.name); }, nullptr, true},
    {"kind", [](PlanFields& f) { return id_slot(f.op.kind); }},
    {"label", [](PlanFields& f) { return text_slot(f.op.label); }},
    {"loc",
     [](PlanFields& f) {
       f.op.location.emplace();
       return object_slot(kLocation);
     }},
    {"queue", [](PlanFields& f) { return id_slot(f.op.queue); }},
    {"queues",
     [](PlanFields& f) {
       f.strings = &f.op.queues;
       return list_slot(kStrings);
     }},
    {"thread", [](PlanFields& f) { return id_slot(f.op.thread); }},
    {"event", [](PlanFields& f) { return id_slot(f.op.event); }},
    {"storage", [](PlanFields& f) { return id_slot(f.op.storage); }},
    {"for",
     [](PlanFields& f) {
       f.string = {};
       f.sync = {};
       f.wait = {};
       return Slot{.expected = "\"all\" or an object", .string = &f.string, .object = &kHostWait};
     },
     [](PlanFields& f) {
       if (f.string == "all") {
         f.wait.kind = WaitKind::kAll;
       } else if (!f.string.empty()) {
         f.fault = "expected \"all\" or an object, found \"" + std::string(f.string) + "\"";
       }
       f.op.wait_for = f.wait;
     }},
    {"reads", access_slot<&OpSpec::reads, kRead>},
    {"writes", access_slot<&OpSpec::writes, kWrite>},
    {"accumulates", access_slot<&OpSpec::accumulates, kAccumulate>},
    {"clobbers", access_slot<&OpSpec::clobbers, kClobber>},
    {"in_place", [](PlanFields&) { return list_slot(kInPlace); }},
    {"after", [](PlanFields&) { return list_slot(kAfter); }},
    {"waits", [](PlanFields&) { return list_slot(kWaits); }},
    {"signals", [](PlanFields&) { return list_slot(kSignals); }},
    {"when", [](PlanFields&) { return object_slot(kWhen); }},
    {"skipped", [](PlanFields& f) { return id_slot(f.op.skipped); }},
    {"runs", [](PlanFields& f) { return id_slot(f.op.runs); }},
    {"duration",
     [](PlanFields& f) {
       f.op.duration.emplace();
       return list_slot(kDuration);
     }},
};
constexpr ObjectFields kOp = {"an op", kOpFields};

/// A new op that keeps the memory of the last one's lists.
void clear(OpSpec& op) {
  const auto keep = [&op](OpSpec& next, auto member) {
    (op.*member).clear();
    next.*member = std::move(op.*member);
  };
  OpSpec next;
  keep(next, &OpSpec::reads);
  keep(next, &OpSpec::writes);
  keep(next, &OpSpec::accumulates);
  keep(next, &OpSpec::clobbers);
  keep(next, &OpSpec::in_place);
  keep(next, &OpSpec::after);
  keep(next, &OpSpec::waits);
  keep(next, &OpSpec::signals);
  keep(next, &OpSpec::when);
  keep(next, &OpSpec::queues);
  op = std::move(next);
}

constexpr ListFields kOps = {"an array of ops",
                             [](PlanFields& f, std::size_t) {
                               clear(f.op);
                               return object_slot(kOp);
                             },
                             [](PlanFields& f) { f.builder.add_op(f.op); }};

// The document.

constexpr Field kOutputFields[] = {
    {"tensor", [](PlanFields& f) { return id_slot(f.output.tensor); }, nullptr, true},
    {"from", [](PlanFields& f) { return id_slot(f.output.from); }},
};
constexpr ObjectFields kOutput = {"an output", kOutputFields};

constexpr ListFields kOutputs = {"an array of tensor ids or objects",
                                 [](PlanFields& f, std::size_t) {
                                   f.output = {};
                                   return id_or_object_slot(f.output.tensor, kOutput);
                                 },
                                 [](PlanFields& f) { f.builder.add_output(f.output); }};

/// A list of tensor ids that goes to one function of the builder.
template <void (PlanBuilder::*kAdd)(std::string_view)>
constexpr ListFields kTensorIds = {"an array of tensor ids",
                                   [](PlanFields& f, std::size_t) {
                                     f.string = {};
                                     return id_slot(f.string);
                                   },
                                   [](PlanFields& f) { (f.builder.*kAdd)(f.string); }};

constexpr ObjectFields kPeakBytes = {
    .what = "peak_bytes",
    .entry =
        [](PlanFields& f, std::string_view key) {
          f.string = key;
          f.expr = std::int64_t{0};
          return expr_slot(f.expr);
        },
    .after_entry = [](PlanFields& f) { f.builder.set_peak_bytes(f.string, f.expr); }};

constexpr Field kDocumentFields[] = {
    {"memverify", [](PlanFields& f) { return integer_slot(f.version.emplace()); }, nullptr, true},
    {"name",
     [](PlanFields& f) {
       f.string = {};
       return text_slot(f.string);
     },
     [](PlanFields& f) { f.builder.set_name(f.string); }},
    {"symbols", [](PlanFields&) { return object_slot(kSymbols); }},
    {"conditions", [](PlanFields&) { return list_slot(kConditions); }},
    {"iterations",
     [](PlanFields& f) {
       f.string = {};
       f.integer = 1;
       return Slot{
           .expected = "an integer or \"unbounded\"", .string = &f.string, .integer = &f.integer};
     },
     [](PlanFields& f) {
       if (f.string.empty()) {
         f.builder.set_iterations(f.integer);
       } else if (f.string == "unbounded") {
         f.builder.set_unbounded();
       } else {
         f.fault = "expected an integer or \"unbounded\", found \"" + std::string(f.string) + "\"";
       }
     }},
    {"pools", [](PlanFields&) { return list_slot(kPools); }},
    {"queues", [](PlanFields&) { return list_slot(kQueues); }},
    {"semaphores", [](PlanFields&) { return list_slot(kSemaphores); }},
    {"storages", [](PlanFields&) { return list_slot(kStorages); }},
    {"tensors", [](PlanFields&) { return list_slot(kTensors); }},
    {"ops", [](PlanFields&) { return list_slot(kOps); }},
    {"inputs", [](PlanFields&) { return list_slot(kTensorIds<&PlanBuilder::add_input>); }},
    {"constants", [](PlanFields&) { return list_slot(kTensorIds<&PlanBuilder::add_constant>); }},
    {"donated", [](PlanFields&) { return list_slot(kTensorIds<&PlanBuilder::add_donated>); }},
    {"outputs", [](PlanFields&) { return list_slot(kOutputs); }},
    {"peak_bytes", [](PlanFields&) { return object_slot(kPeakBytes); }},
};

}  // namespace

constexpr ObjectFields kPlanFields = {"a plan", kDocumentFields};

}  // namespace memverify
