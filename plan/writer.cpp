#include "plan/writer.h"

#include <span>
#include <string_view>
#include <vector>

#include "plan/plan_text.h"

namespace memverify {
namespace {

void write_symbols(PlanText& text) {
  if (text.plan().symbols.empty()) return;
  text.key("symbols");
  text.open('{');
  for (const Symbol& symbol : text.plan().symbols) {
    text.key(symbol.name);
    text.open('{');
    if (symbol.min != 0) text.field("min", symbol.min);
    if (symbol.max) text.field("max", *symbol.max);
    if (symbol.multiple_of != 1) text.field("multiple_of", symbol.multiple_of);
    text.extras({"symbols", symbol.name});
    text.close('}');
  }
  text.close('}');
}

void write_conditions(PlanText& text) {
  const Plan& plan = text.plan();
  if (plan.conditions.empty()) return;
  text.key("conditions");
  text.open('[');
  for (const ConditionId id : ids(plan.conditions)) {
    const Condition& condition = plan.conditions[id];
    text.next();
    if (!condition.per_run && !text.has_extras({"conditions", index(id)})) {
      text.value(condition.name);
      continue;
    }
    text.open('{');
    text.field("id", condition.name);
    if (condition.per_run) text.field("per", std::string_view("run"));
    text.extras({"conditions", index(id)});
    text.close('}');
  }
  text.close(']');
}

void write_pool(PlanText& text, PoolId id) {
  const Pool& pool = text.plan().pools[id];
  text.field("id", pool.name);
  if (pool.bytes) text.field("bytes", *pool.bytes);
  if (pool.alignment != 1) text.field("alignment", pool.alignment);
  if (!pool.kind.empty()) text.field("kind", pool.kind);
}

void write_queue(PlanText& text, QueueId id) {
  const Queue& queue = text.plan().queues[id];
  text.field("id", queue.name);
  if (queue.order != QueueOrder::kSerial) text.field("order", name(queue.order));
  if (queue.depth) text.field("depth", *queue.depth);
  if (queue.delay_min != 0 || queue.delay_max != 0) {
    text.pair("delay", queue.delay_min, queue.delay_max);
  }
  if (queue.thread != ThreadId{0}) text.field("thread", text.plan().threads[queue.thread]);
}

void write_semaphore(PlanText& text, SemaphoreId id) {
  const Semaphore& semaphore = text.plan().semaphores[id];
  text.field("id", semaphore.name);
  if (semaphore.timeline) text.field("kind", std::string_view("timeline"));
  if (!is_constant(semaphore.initial, 0)) text.field("initial", semaphore.initial);
}

void write_storage(PlanText& text, StorageId id) {
  const Plan& plan = text.plan();
  const Storage& storage = plan.storages[id];
  text.field("id", storage.name);
  text.field("pool", plan.pools[storage.pool].name);
  if (storage.slots.size() == 1) {
    text.field("offset", plan.exprs[storage.slots.begin]);
  } else {
    text.exprs("offset", storage.slots);
  }
  text.field("bytes", storage.bytes);
}

void write_tensor(PlanText& text, TensorId id) {
  const Plan& plan = text.plan();
  const Tensor& tensor = plan.tensors[id];
  text.field("id", tensor.name);
  switch (tensor.placement) {
    case TensorKind::kRoot:
      text.field("storage", plan.storages[tensor.storage].name);
      if (!is_constant(tensor.offset, 0)) text.field("offset", tensor.offset);
      break;
    case TensorKind::kView:
      text.field("view_of", plan.tensors[tensor.base].name);
      if (!is_constant(tensor.offset, 0)) text.field("offset", tensor.offset);
      break;
    case TensorKind::kUnplaced:
      break;
  }
  if (tensor.dtype == DType::kNone) {
    text.field("bytes", tensor.bytes);
  } else {
    text.field("dtype", name(tensor.dtype));
    text.exprs("shape", tensor.shape);
    if (tensor.has_strides) text.exprs("strides", tensor.strides);
  }
  if (tensor.alignment != 0) text.field("alignment", tensor.alignment);
  const std::span<const PoolId> pools = Plan::slice(plan.pool_lists, tensor.pools);
  if (pools.size() == 1) {
    text.field("pool", plan.pools[pools.front()].name);
  } else if (!pools.empty()) {
    text.names("pool", pools, plan.pools);
  }
  if (tensor.slots != 1) text.field("slots", tensor.slots);
}

/// A list with one line for each of `items`, written by `write_item`.
template <typename Id, typename T>
void write_list(PlanText& text, std::string_view list, const Table<Id, T>& items,
                void (*write_item)(PlanText&, Id)) {
  if (items.empty()) return;
  text.key(list);
  text.open_lines();
  for (const Id id : ids(items)) {
    text.next();
    text.open('{');
    write_item(text, id);
    text.extras({list, index(id)});
    text.close('}');
  }
  text.close_lines();
}

void write_tensor_ids(PlanText& text, std::string_view list, const std::vector<TensorId>& tensors) {
  if (tensors.empty()) return;
  text.names(list, std::span<const TensorId>(tensors), text.plan().tensors);
}

void write_outputs(PlanText& text) {
  const Plan& plan = text.plan();
  if (plan.outputs.empty()) return;
  text.key("outputs");
  text.open('[');
  for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
    const Output& output = plan.outputs[k];
    text.next();
    if (output.from == kNone<OpId> && !output.from_initial && !text.has_extras({"outputs", k})) {
      text.value(plan.tensors[output.tensor].name);
      continue;
    }
    text.open('{');
    text.field("tensor", plan.tensors[output.tensor].name);
    text.version(output.from, output.from_initial);
    text.extras({"outputs", k});
    text.close('}');
  }
  text.close(']');
}

void write_peak_bytes(PlanText& text) {
  bool any = false;
  for (const Pool& pool : text.plan().pools) {
    if (!pool.peak_bytes) continue;
    if (!any) {
      text.key("peak_bytes");
      text.open('{');
    }
    any = true;
    text.field(pool.name, *pool.peak_bytes);
  }
  if (any) text.close('}');
}

}  // namespace

std::string write_plan(const Plan& plan) {
  PlanText text(plan);
  text.open('{');
  text.field("memverify", std::int64_t{1});
  if (!plan.name.empty()) text.field("name", plan.name);
  write_symbols(text);
  write_conditions(text);
  if (!plan.iterations) {
    text.field("iterations", std::string_view("unbounded"));
  } else if (*plan.iterations != 1) {
    text.field("iterations", *plan.iterations);
  }
  write_list(text, "pools", plan.pools, write_pool);
  write_list(text, "queues", plan.queues, write_queue);
  write_list(text, "semaphores", plan.semaphores, write_semaphore);
  write_list(text, "storages", plan.storages, write_storage);
  write_list(text, "tensors", plan.tensors, write_tensor);
  write_list(text, "ops", plan.ops, write_op);
  write_tensor_ids(text, "inputs", plan.inputs);
  write_tensor_ids(text, "constants", plan.constants);
  write_tensor_ids(text, "donated", plan.donated);
  write_outputs(text);
  write_peak_bytes(text);
  text.extras({});
  text.raw("\n");
  text.close('}');
  text.raw("\n");
  return text.take();
}

}  // namespace memverify
