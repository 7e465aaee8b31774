#include "plan/reader_fields.h"

#include <utility>

#include "plan/plain_item.h"

namespace memverify {

namespace {

constexpr ListFields kExprs = {
    "an array of integers or expression strings",
    [](PlanFields& f, std::size_t) { return expr_slot(f.exprs->emplace_back()); }};

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
    .after_entry = [](PlanFields& f) { f.feed.builder().add_symbol(f.symbol); }};

constexpr Field kConditionFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.condition.name); }, nullptr, true},
    {"per", [](PlanFields& f) { return id_slot(f.condition.per); }},
};
constexpr ObjectFields kCondition = {"a condition", kConditionFields};

constexpr ListFields kConditions = {
    "an array of conditions",
    [](PlanFields& f, std::size_t) {
      f.condition = {};
      return id_or_object_slot(f.condition.name, kCondition);
    },
    [](PlanFields& f) { f.feed.builder().add_condition(f.condition); }};

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
                               [](PlanFields& f) { f.feed.builder().add_pool(f.pool); }};

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
                                [](PlanFields& f) { f.feed.builder().add_queue(f.queue); }};

constexpr Field kSemaphoreFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.semaphore.name); }, nullptr, true},
    {"kind", [](PlanFields& f) { return id_slot(f.semaphore.kind); }},
    {"initial", [](PlanFields& f) { return expr_slot(f.semaphore.initial); }},
};
constexpr ObjectFields kSemaphore = {"a semaphore", kSemaphoreFields};

constexpr ListFields kSemaphores = {
    "an array of semaphores",
    [](PlanFields& f, std::size_t) {
      f.semaphore = {};
      return object_slot(kSemaphore);
    },
    [](PlanFields& f) { f.feed.builder().add_semaphore(f.semaphore); }};

// Storages and tensors.

constexpr ListFields kSlotOffsets = {"an array of at least one integer or expression string",
                                     [](PlanFields& f, std::size_t) {
                                       f.storage->slots_are_array = true;
                                       return expr_slot(f.storage->slots.emplace_back());
                                     },
                                     nullptr, 1};

constexpr Field kStorageFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.storage->name); }, nullptr, true},
    {"pool", [](PlanFields& f) { return id_slot(f.storage->pool); }, nullptr, true},
    {"offset",
     [](PlanFields& f) {
       f.expr = std::int64_t{0};
       return Slot{.expected = "an integer, an expression string or an array of them",
                   .expr = &f.expr,
                   .list = &kSlotOffsets,
                   .plain_list = plain_list<kSlotOffsets>};
     },
     [](PlanFields& f) {
       if (!f.storage->slots_are_array) f.storage->slots.push_back(f.expr);
     },
     true},
    {"bytes", [](PlanFields& f) { return expr_slot(f.storage->bytes); }, nullptr, true},
};
constexpr ObjectFields kStorage = {"a storage", kStorageFields};

constexpr ListFields kStorages = {"an array of storages",
                                  [](PlanFields& f, std::size_t) {
                                    f.storage = &f.feed.next<StorageSpec>();
                                    auto slots = std::move(f.storage->slots);
                                    slots.clear();
                                    *f.storage = {.slots = std::move(slots)};
                                    return object_slot<kStorage>();
                                  },
                                  [](PlanFields& f) { f.feed.add(); },
                                  0,
                                  kNoLimit,
                                  true};

/// Gives `list` the memory of `spare`, empty.
std::vector<ExprSpec>* reuse(std::optional<std::vector<ExprSpec>>& list,
                             std::vector<ExprSpec>& spare) {
  spare.clear();
  return &list.emplace(std::move(spare));
}

constexpr Field kTensorFields[] = {
    {"id", [](PlanFields& f) { return id_slot(f.tensor->name); }, nullptr, true},
    {"storage", [](PlanFields& f) { return id_slot(f.tensor->storage); }},
    {"view_of", [](PlanFields& f) { return id_slot(f.tensor->view_of); }},
    {"offset", [](PlanFields& f) { return expr_slot(f.tensor->offset); }},
    {"bytes", [](PlanFields& f) { return expr_slot(f.tensor->bytes.emplace()); }},
    {"dtype", [](PlanFields& f) { return id_slot(f.tensor->dtype); }},
    {"shape",
     [](PlanFields& f) {
       f.exprs = reuse(f.tensor->shape, f.spare_shape);
       return list_slot<kExprs>();
     }},
    {"strides",
     [](PlanFields& f) {
       f.exprs = reuse(f.tensor->strides, f.spare_strides);
       return list_slot<kExprs>();
     }},
    {"alignment", [](PlanFields& f) { return integer_slot(f.tensor->alignment.emplace()); }},
    {"pool",
     [](PlanFields& f) {
       f.string = {};
       f.strings = &f.tensor->pools;
       return Slot{.expected = "a string or an array of strings",
                   .string = &f.string,
                   .list = &kStrings,
                   .plain_list = plain_list<kStrings>};
     },
     [](PlanFields& f) {
       if (f.tensor->pools.empty() && !f.string.empty()) f.tensor->pools.push_back(f.string);
     }},
    {"slots", [](PlanFields& f) { return integer_slot(f.tensor->slots.emplace()); }},
};
constexpr ObjectFields kTensor = {"a tensor", kTensorFields};

constexpr ListFields kTensors = {"an array of tensors",
                                 [](PlanFields& f, std::size_t) {
                                   f.tensor = &f.feed.next<TensorSpec>();
                                   TensorSpec& last = *f.tensor;
                                   if (last.shape) f.spare_shape = *std::move(last.shape);
                                   if (last.strides) f.spare_strides = *std::move(last.strides);
                                   auto pools = std::move(last.pools);
                                   pools.clear();
                                   last = {.pools = std::move(pools)};
                                   return object_slot<kTensor>();
                                 },
                                 [](PlanFields& f) { f.feed.add(); },
                                 0,
                                 kNoLimit,
                                 true};

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
                                 [](PlanFields& f) { f.feed.builder().add_output(f.output); }};

/// A list of tensor ids that goes to one function of the builder.
template <void (PlanBuilder::*kAdd)(std::string_view)>
constexpr ListFields kTensorIds = {"an array of tensor ids",
                                   [](PlanFields& f, std::size_t) {
                                     f.string = {};
                                     return id_slot(f.string);
                                   },
                                   [](PlanFields& f) { (f.feed.builder().*kAdd)(f.string); }};

constexpr ObjectFields kPeakBytes = {
    .what = "peak_bytes",
    .entry =
        [](PlanFields& f, std::string_view key) {
          f.string = key;
          f.expr = std::int64_t{0};
          return expr_slot(f.expr);
        },
    .after_entry = [](PlanFields& f) { f.feed.builder().set_peak_bytes(f.string, f.expr); }};

constexpr Field kDocumentFields[] = {
    {"memverify", [](PlanFields& f) { return integer_slot(f.integer); },
     [](PlanFields& f) { f.version = f.integer; }, true},
    {"name",
     [](PlanFields& f) {
       f.string = {};
       return text_slot(f.string);
     },
     [](PlanFields& f) { f.feed.builder().set_name(f.string); }},
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
         f.feed.builder().set_iterations(f.integer);
       } else if (f.string == "unbounded") {
         f.feed.builder().set_unbounded();
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
