// build(): names become ids and texts become expressions, in place.
#include <algorithm>
#include <cassert>
#include <future>

#include "plan/beside.h"
#include "plan/builder_impl.h"
#include "plan/layout.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMaxQuoted = 80;

}  // namespace

void PlanBuilder::Impl::parse(Faults& found, Expr& field, bool allow_iteration,
                              const std::function<std::string()>& pointer) {
  const std::uint32_t text = field.formula;
  auto& known = parsed[allow_iteration ? 1 : 0];
  if (const auto at = known.find(text); at != known.end()) {
    field = at->second;
    return;
  }
  std::string_view unknown_symbol;
  const auto symbol = [&](std::string_view name) -> std::optional<SymbolId> {
    const std::uint32_t id = find(NameKind::kSymbol, index(names.intern(name)));
    if (id != kNoId) return static_cast<SymbolId>(id);
    unknown_symbol = name;
    return std::nullopt;
  };
  std::optional<ExprPool::ParseError> error;
  const std::string_view source = names.text(static_cast<StringId>(text));
  field = plan.formulas.parse(source, allow_iteration, symbol, error);
  if (!error) {
    known.emplace(text, field);
    return;
  }
  std::string message = error->message;
  if (!unknown_symbol.empty()) message += nearest(found, NameKind::kSymbol, unknown_symbol);
  fail(found, error->id,
       message + " (byte " + std::to_string(error->offset) + " of " +
           quoted(source.substr(0, kMaxQuoted)) + ")",
       pointer());
}

void PlanBuilder::Impl::resolve_declarations() {
  for (const PoolId id : ids(plan.pools)) {
    std::optional<Expr>& bytes = plan.pools[id].bytes;
    if (bytes) resolve(*bytes, false, [&] { return json_pointer({"pools", index(id), "bytes"}); });
  }
  for (const SemaphoreId id : ids(plan.semaphores)) {
    resolve(plan.semaphores[id].initial, false, [&] {
      return json_pointer({"semaphores", index(id), "initial"});
    });
  }
  for (auto& [name, bytes] : peaks) {
    PoolId pool = static_cast<PoolId>(name);
    const auto pointer = [&, string = name] {
      return json_pointer({"peak_bytes", names.text(string)});
    };
    resolve(bytes, false, pointer);
    resolve(pool, NameKind::kPool, pointer);
    if (pool == kNone<PoolId>) continue;
    if (plan.pools[pool].peak_bytes) {
      fail("id.duplicate", "peak_bytes names this pool twice", pointer());
    }
    plan.pools[pool].peak_bytes = bytes;
  }
  for (const StorageId id : ids(plan.storages)) {
    Storage& storage = plan.storages[id];
    resolve(storage.pool, NameKind::kPool, [&] {
      return json_pointer({"storages", index(id), "pool"});
    });
    for (std::uint32_t i = storage.slots.begin; i < storage.slots.end; ++i) {
      resolve(plan.exprs[i], false, [&] {
        const std::string at = json_pointer({"storages", index(id), "offset"});
        return slots_are_array[index(id)] ? at + "/" + std::to_string(i - storage.slots.begin) : at;
      });
    }
    resolve(storage.bytes, false, [&] { return json_pointer({"storages", index(id), "bytes"}); });
  }
  for (const TensorId id : ids(plan.tensors)) resolve_tensor(id);
}

void PlanBuilder::Impl::resolve_tensor(TensorId id) {
  Tensor& tensor = plan.tensors[id];
  const auto at = [&](std::string_view field) {
    return [=] { return json_pointer({"tensors", index(id), field}); };
  };
  resolve(tensor.storage, NameKind::kStorage, at("storage"));
  resolve(tensor.base, NameKind::kTensor, at("view_of"));
  resolve(tensor.offset, false, at("offset"));
  resolve(tensor.bytes, false, at("bytes"));
  const auto list = [&](Range range, std::string_view field) {
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
      resolve(plan.exprs[i], false, [&] {
        return json_pointer({"tensors", index(id), field, i - range.begin});
      });
    }
  };
  list(tensor.shape, "shape");
  list(tensor.strides, "strides");
  if (tensor.has_strides) check_four_bit(id);
  for (std::uint32_t i = tensor.pools.begin; i < tensor.pools.end; ++i) {
    resolve(plan.pool_lists[i], NameKind::kPool, [&] {
      const std::string pointer = json_pointer({"tensors", index(id), "pool"});
      return tensor.pools.size() == 1 ? pointer
                                      : pointer + "/" + std::to_string(i - tensor.pools.begin);
    });
  }
}

// What is known already; with symbols in it, Layout tells.
void PlanBuilder::Impl::check_four_bit(TensorId id) {
  const Tensor& tensor = plan.tensors[id];
  if (bits(tensor.dtype) >= 8) return;
  if (tensor.shape.size() != tensor.strides.size()) return;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  for (const Expr expr : Plan::slice(plan.exprs, tensor.shape)) {
    if (!expr.is_constant()) return;
    shape.push_back(expr.constant);
  }
  for (const Expr expr : Plan::slice(plan.exprs, tensor.strides)) {
    if (!expr.is_constant()) return;
    strides.push_back(expr.constant);
  }
  if (is_row_major(shape, strides)) return;
  fail("tensor.four_bit", "a tensor of 4-bit elements must be row-major contiguous",
       json_pointer({"tensors", index(id), "strides"}));
}

void PlanBuilder::Impl::resolve_ops() {
  for (const OpId id : ids(plan.ops)) {
    Op& op = plan.ops[id];
    const auto at = [&](std::string_view field) {
      return [=] { return json_pointer({"ops", index(id), field}); };
    };
    resolve(op_faults, op.queue, NameKind::kQueue, at("queue"));
    resolve(op_faults, op.storage, NameKind::kStorage, at("storage"));
    if (op.thread == kNone<ThreadId>) {
      op.thread = op.queue == kNone<QueueId> ? ThreadId{0} : plan.queues[op.queue].thread;
    }
    resolve_accesses(id);
    resolve_sync(id);
    if (op.details == Op::kNoDetails) continue;
    const OpDetails& details = plan.details[op.details];
    for (std::uint32_t i = details.in_place.begin; i < details.in_place.end; ++i) {
      const auto side = [&, i](int which) {
        return [=, begin = details.in_place.begin] {
          return json_pointer({"ops", index(id), "in_place", i - begin, which});
        };
      };
      resolve(op_faults, plan.in_places[i].read, NameKind::kTensor, side(0));
      resolve(op_faults, plan.in_places[i].written, NameKind::kTensor, side(1));
    }
    for (std::uint32_t i = details.when.begin; i < details.when.end; ++i) {
      ConditionId& condition = plan.when_terms[i].condition;
      const std::string_view name = names.text(static_cast<StringId>(condition));
      resolve(op_faults, condition, NameKind::kCondition, [&] {
        return json_pointer({"ops", index(id), "when", name});
      });
    }
    for (std::uint32_t i = details.queues.begin; i < details.queues.end; ++i) {
      resolve(op_faults, plan.queue_lists[i], NameKind::kQueue, [&] {
        return json_pointer({"ops", index(id), "queues", i - details.queues.begin});
      });
    }
  }
}

void PlanBuilder::Impl::resolve_accesses(OpId id) {
  const Range range = plan.ops[id].accesses;
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    Access& access = plan.accesses[i];
    const auto entry = [&] { return access_pointer(plan, id, i); };
    resolve(op_faults, access.tensor, NameKind::kTensor, entry);
    resolve(op_faults, access.pool, NameKind::kPool, [&] { return entry() + "/pool"; });
    resolve(op_faults, access.from, NameKind::kOp, [&] { return entry() + "/from"; });
    if (access.part == Access::kWhole) continue;
    Part& part = plan.parts[access.part];
    resolve(op_faults, part.offset, false, [&] { return entry() + "/offset"; });
    if (part.bytes) resolve(op_faults, *part.bytes, false, [&] { return entry() + "/bytes"; });
  }
}

void PlanBuilder::Impl::resolve_sync(OpId id) {
  const Op& op = plan.ops[id];
  for (std::uint32_t i = op.waits.begin; i < op.waits.end; ++i) {
    const Wait& wait = plan.waits[i];
    const bool is_plain = wait.kind == WaitKind::kEvent && wait.value.is_constant();
    if (!is_plain || wait.value.constant < 0) resolve_wait(id, i);
  }
  for (std::uint32_t i = op.signals.begin; i < op.signals.end; ++i) {
    Signal& signal = plan.signals[i];
    const auto entry = [&] {
      return json_pointer({"ops", index(id), "signals", i - op.signals.begin});
    };
    resolve(op_faults, signal.semaphore, NameKind::kSemaphore,
            [&] { return entry() + "/semaphore"; });
    resolve(op_faults, signal.value, true, [&] { return entry() + "/value"; });
    if (signal.value.is_constant() && signal.value.constant < 0 &&
        signal.semaphore != kNone<SemaphoreId> && !plan.semaphores[signal.semaphore].timeline) {
      fail(op_faults, "value.negative", "a signal cannot take away from a counting semaphore",
           entry() + "/value");
    }
  }
  for (std::uint32_t i = op.after.begin; i < op.after.end; ++i) {
    After& after = plan.afters[i];
    const auto entry = [&] {
      return json_pointer({"ops", index(id), "after", i - op.after.begin});
    };
    resolve(op_faults, after.op, NameKind::kOp, entry);
    if (after.op != kNone<OpId> && plan.ops[after.op].kind == OpKind::kView) {
      fail(op_faults, "after.view", "a view does not run, so nothing can come after it", entry());
    }
  }
}

void PlanBuilder::Impl::resolve_wait(OpId id, std::uint32_t i) {
  Wait& wait = plan.waits[i];
  const auto entry = [&] { return wait_pointer(plan, id, i); };
  resolve(op_faults, wait.semaphore, NameKind::kSemaphore, [&] { return entry() + "/semaphore"; });
  resolve(op_faults, wait.queue, NameKind::kQueue, [&] { return entry() + "/queue"; });
  const auto value_at = [&] { return entry() + "/" + std::string(value_key(wait.kind)); };
  resolve(op_faults, wait.value, wait.kind == WaitKind::kSemaphore, value_at);
  const bool may_be_negative = wait.kind == WaitKind::kSemaphore && !wait.consume;
  if (wait.value.is_constant() && wait.value.constant < 0 && !may_be_negative) {
    fail(op_faults, "value.negative", "this number must not be negative", value_at());
  }
  if (wait.consume && wait.semaphore != kNone<SemaphoreId> &&
      plan.semaphores[wait.semaphore].timeline) {
    fail(op_faults, "wait.consume", "a timeline semaphore cannot be consumed",
         entry() + "/consume");
  }
}

void PlanBuilder::Impl::resolve_boundary() {
  std::vector<std::uint8_t> seen(plan.tensors.size());
  constexpr std::uint8_t kInput = 1, kConstant = 2, kDonated = 4;
  const auto list = [&](std::vector<TensorId>& tensors, std::string_view section,
                        std::uint8_t role) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto entry = [&] { return json_pointer({section, i}); };
      resolve(tensors[i], NameKind::kTensor, entry);
      if (tensors[i] == kNone<TensorId>) continue;
      std::uint8_t& roles = seen[index(tensors[i])];
      const std::string name = quoted(plan.tensors[tensors[i]].name);
      if ((roles & role) != 0) {
        fail("boundary.duplicate", name + " is listed twice", entry());
      } else if (role == kConstant && (roles & kInput) != 0) {
        fail("boundary.duplicate", name + " is an input already", entry());
      } else if (role == kDonated && (roles & kInput) == 0) {
        fail("donated.not_input", name + " is donated but is not an input", entry());
      }
      roles |= role;
    }
  };
  list(plan.inputs, "inputs", kInput);
  list(plan.constants, "constants", kConstant);
  list(plan.donated, "donated", kDonated);
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    Output& output = plan.outputs[i];
    const auto entry = [&] { return json_pointer({"outputs", i}); };
    resolve(output.tensor, NameKind::kTensor, entry);
    resolve(output.from, NameKind::kOp, [&] { return entry() + "/from"; });
  }
}

Result<Plan> PlanBuilder::build() && {
  Impl& impl = *impl_;
  // Formulas share a pool, in the order in which they are met.
  auto ops = std::async(impl.has_formulas ? std::launch::deferred : beside(impl.plan.ops.size()),
                        [&] { impl.resolve_ops(); });
  impl.resolve_declarations();
  impl.find_roots();
  ops.get();
  impl.resolve_boundary();
  impl.check_in_place();
  impl.check_named_writers();
  if (std::vector<Diagnostic> errors = impl.sorted_errors(); !errors.empty()) return errors;
  impl.plan.names = impl.names.arena();
  return std::move(impl.plan);
}

}  // namespace memverify
