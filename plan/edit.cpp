#include "plan/edit.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>
#include <unordered_set>

#include "plan/name_table.h"

namespace memverify {
namespace {

constexpr std::string_view kOpsPointer = "/ops/";

/// "/ops/3/reads/0" after op 3 has become op `number[3]`.
std::string moved_pointer(const std::string& pointer, std::span<const std::uint32_t> number) {
  if (!pointer.starts_with(kOpsPointer)) return pointer;
  std::uint32_t old = 0;
  const char* begin = pointer.data() + kOpsPointer.size();
  const auto [end, error] = std::from_chars(begin, pointer.data() + pointer.size(), old);
  if (error != std::errc() || old >= number.size()) return pointer;
  return std::string(kOpsPointer) + std::to_string(number[old]) +
         std::string(end, pointer.data() + pointer.size());
}

/// Names that nothing else of their table has. Gives the plan an arena that owns them, too.
class FreshNames {
 public:
  explicit FreshNames(Plan& plan) : both_(std::make_shared<Both>()) {
    both_->old = plan.names;
    plan.names = {both_, &both_->fresh};
  }

  template <typename Table>
  std::string_view make(const Table& table, std::string name) {
    std::unordered_set<std::string_view> taken;
    for (const auto& entry : table) taken.insert(entry.name);
    while (taken.contains(name)) name += "'";
    return both_->fresh.store(name);
  }

 private:
  struct Both {
    std::shared_ptr<const NameArena> old;
    NameArena fresh;
  };
  std::shared_ptr<Both> both_;
};

/// Appends a slice of one item.
template <typename T>
Range one(std::vector<T>& items, T item) {
  const auto begin = static_cast<std::uint32_t>(items.size());
  items.push_back(item);
  return {begin, begin + 1};
}

}  // namespace

Plan with_waits(const Plan& plan, std::span<const AddedWait> waits) {
  Plan result = plan;
  for (const AddedWait& wait : waits) {
    Range& after = result.ops[wait.waiter].after;
    const auto begin = static_cast<std::uint32_t>(result.afters.size());
    for (std::uint32_t k = after.begin; k < after.end; ++k) {
      result.afters.push_back(After(result.afters[k]));
    }
    result.afters.push_back({wait.on, wait.distance});
    after = {begin, static_cast<std::uint32_t>(result.afters.size())};
  }
  return result;
}

Plan with_moves(const Plan& plan, std::span<const MovedStorage> moves) {
  Plan result = plan;
  for (const MovedStorage& move : moves) {
    const Range slots = result.storages[move.storage].slots;
    for (std::uint32_t k = 0; k < slots.size(); ++k) {
      result.exprs[slots.begin + k] = Expr(move.slots[k]);
    }
  }
  return result;
}

Plan reordered(const Plan& plan, std::span<const OpId> order) {
  Plan result = plan;
  std::vector<std::uint32_t> number(order.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    number[index(order[k])] = k;
    result.ops[static_cast<OpId>(k)] = plan.ops[order[k]];
  }
  const auto renumber = [&](OpId& op) {
    if (op != kNone<OpId>) op = static_cast<OpId>(number[index(op)]);
  };
  for (After& after : result.afters) renumber(after.op);
  for (Access& access : result.accesses) renumber(access.from);
  for (Output& output : result.outputs) renumber(output.from);
  for (Extra& extra : result.extras) extra.owner = moved_pointer(extra.owner, number);
  return result;
}

Plan with_op_at(const Plan& plan, OpId op, std::uint32_t place) {
  std::vector<OpId> order;
  for (const OpId id : ids(plan.ops)) {
    if (index(id) == place) order.push_back(op);
    if (id != op) order.push_back(id);
  }
  if (place >= plan.ops.size()) order.push_back(op);
  return reordered(plan, order);
}

Plan with_barrier(const Plan& plan, std::uint32_t place) {
  Plan result = plan;
  FreshNames names(result);
  Op op{.name = names.make(plan.ops, "barrier"), .kind = OpKind::kBarrier};
  Range& queues = result.add_details(op).queues;
  queues.begin = static_cast<std::uint32_t>(result.queue_lists.size());
  for (const QueueId queue : ids(plan.queues)) result.queue_lists.push_back(queue);
  queues.end = static_cast<std::uint32_t>(result.queue_lists.size());
  const OpId added = result.ops.push_back(op);
  return with_op_at(result, added, place);
}

Plan with_copy(const Plan& plan, const AddedCopy& copy) {
  Plan result = plan;
  FreshNames names(result);
  const std::string name = std::string(plan.tensors[copy.source].name) + "_copy";
  const Tensor& source = plan.tensors[copy.source];
  const StorageId storage =
      result.storages.push_back({.name = names.make(plan.storages, name),
                                 .pool = plan.storages[source.storage].pool,
                                 .slots = one(result.exprs, Expr(copy.offset)),
                                 .bytes = Expr(copy.bytes)});
  Tensor made = source;
  made.name = names.make(plan.tensors, name);
  made.placement = TensorKind::kRoot;
  made.has_strides = false;
  made.strides = {};
  made.storage = storage;
  made.base = kNone<TensorId>;
  made.root = result.tensors.next_id();
  made.offset = Expr(std::int64_t{0});
  const TensorId target = result.tensors.push_back(made);
  for (std::uint32_t k = plan.ops[copy.reader].accesses.begin;
       k < plan.ops[copy.reader].accesses.end; ++k) {
    Access& access = result.accesses[k];
    if (access.kind != AccessKind::kRead || access.tensor != copy.source) continue;
    access.tensor = target;
    access.from = kNone<OpId>;
    access.from_initial = false;
  }
  Op op{.name = names.make(plan.ops, "copy_" + std::string(source.name)), .queue = copy.queue};
  op.thread = plan.queues[copy.queue].thread;
  OpDetails& details = result.add_details(op);
  details.label = "Copy";
  details.when = plan.details_of(plan.ops[copy.reader]).when;
  op.runs = plan.ops[copy.reader].runs;
  const auto begin = static_cast<std::uint32_t>(result.accesses.size());
  result.accesses.push_back({.kind = AccessKind::kRead, .tensor = copy.source});
  result.accesses.push_back({.kind = AccessKind::kWrite, .tensor = target});
  op.accesses = {begin, begin + 2};
  const OpId added = result.ops.push_back(op);
  const std::uint32_t place = copy.after == kNone<OpId> ? 0 : index(copy.after) + 1;
  return with_op_at(result, added, place);
}

}  // namespace memverify
