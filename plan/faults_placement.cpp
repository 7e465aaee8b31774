// Where tensors and storages lie: MV108 of tensors and storages, MV109, MV110, a claimed peak
// (MV301).
#include <algorithm>
#include <optional>
#include <vector>

#include "plan/faults_impl.h"

namespace memverify {
namespace {

constexpr std::size_t kOpsNamed = 16;  ///< Of the ops that access a misplaced tensor.

bool inside(ByteRange inner, ByteRange outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

/// The part of `inner` before `outer`, or if there is none the part behind it.
ByteRange outside_of(ByteRange inner, ByteRange outer) {
  if (inner.begin < outer.begin) return {inner.begin, std::min(inner.end, outer.begin)};
  return {std::max(inner.begin, outer.end), inner.end};
}

/// Slot offsets of a storage.
std::vector<std::int64_t> slots_of(const Layout& layout, StorageId id) {
  std::vector<std::int64_t> slots;
  for (std::uint32_t i = 0; i < layout.storage(id).slots.size(); ++i) {
    slots.push_back(layout.slot_address(id, i));
  }
  return slots;
}

void find_in_tensors(FaultSearch& search) {
  const Layout& layout = search.layout;
  for (const TensorId id : ids(search.plan.tensors)) {
    const Tensor& tensor = search.plan.tensors[id];
    const ByteRange bytes = layout.tensor(id).bytes.hull();
    if (bytes.empty()) continue;
    const bool is_root = tensor.placement == Placement::kRoot;
    const ByteRange root = layout.tensor(tensor.root).bytes.hull();
    const ByteRange holder = is_root ? ByteRange{0, layout.storage(tensor.storage).bytes} : root;
    if (inside(bytes, holder)) continue;
    Finding& finding =
        search.add(is_root ? FaultKind::kRootOutside : FaultKind::kViewOutside, Rule::kOutOfBounds,
                   {bytes.begin, bytes.end, is_root ? holder.end : holder.begin, holder.end});
    add_tensor(search.plan, id, finding);
    finding.pool = layout.storage(tensor.storage).pool;
    const ByteRange beyond = outside_of(bytes, holder);
    const std::int64_t slot = layout.slot_address(tensor.storage, 0);
    finding.bytes = {slot + beyond.begin, slot + beyond.end};
  }
}

/// Adds to each tensor's fault the ops that use bytes outside: those that access the tensor, or
/// another of the family of a misplaced root that lies outside the storage too.
void name_ops(FaultSearch& search, std::size_t first_fault) {
  if (search.faults.size() == first_fault) return;
  const Plan& plan = search.plan;
  constexpr std::uint32_t kNoFault = 0xFFFFFFFFU;
  std::vector<std::uint32_t> fault_of(plan.tensors.size(), kNoFault);
  for (std::size_t i = first_fault; i < search.faults.size(); ++i) {
    fault_of[index(search.faults[i].finding.tensors[0])] = static_cast<std::uint32_t>(i);
  }
  const auto name = [&](OpId op, std::uint32_t fault) {
    if (fault == kNoFault) return;
    Finding& finding = search.faults[fault].finding;
    if (finding.ops.size() >= kOpsNamed) return;
    if (!finding.ops.empty() && finding.ops.back() == op) return;
    finding.ops.push_back(op);
    finding.iteration.push_back(first_iteration(plan, plan.ops[op]));
  };
  for (const OpId op : ids(plan.ops)) {
    if (plan.ops[op].kind == OpKind::kView) continue;
    for (const Access& access : plan.accesses_of(plan.ops[op])) {
      if (access.tensor == kNone<TensorId>) continue;
      const Tensor& tensor = plan.tensors[access.tensor];
      name(op, fault_of[index(access.tensor)]);
      const ByteRange storage{0, search.layout.storage(tensor.storage).bytes};
      if (access.tensor == tensor.root) continue;
      if (!inside(search.layout.tensor(access.tensor).bytes.hull(), storage)) {
        name(op, fault_of[index(tensor.root)]);
      }
    }
  }
}

void find_in_alignment(FaultSearch& search) {
  const Plan& plan = search.plan;
  const auto report = [&](ByteRange bytes, std::int64_t alignment, PoolId pool) -> Finding& {
    Finding& finding =
        search.add(FaultKind::kMisaligned, Rule::kMisaligned, {bytes.begin, alignment});
    finding.pool = pool;
    finding.bytes = bytes;
    return finding;
  };
  for (const StorageId id : ids(plan.storages)) {
    const StorageLayout& storage = search.layout.storage(id);
    const std::int64_t alignment = plan.pools[storage.pool].alignment;
    if (alignment == 1 || storage.bytes == 0) continue;
    for (const std::int64_t slot : slots_of(search.layout, id)) {
      if (slot % alignment == 0) continue;
      report({slot, end_of(slot, storage.bytes)}, alignment, storage.pool).storages = {id};
      break;
    }
  }
  for (const TensorId id : ids(plan.tensors)) {
    const Tensor& tensor = plan.tensors[id];
    const PoolId pool = search.layout.storage(tensor.storage).pool;
    const bool is_root = tensor.placement == Placement::kRoot;
    const std::int64_t alignment = tensor.alignment != 0 ? tensor.alignment
                                   : is_root             ? plan.pools[pool].alignment
                                                         : 1;
    const TensorLayout& layout = search.layout.tensor(id);
    if (alignment == 1 || layout.bytes.empty()) continue;
    for (const std::int64_t slot : slots_of(search.layout, tensor.storage)) {
      const std::int64_t address = slot + layout.offset;
      if (address % alignment == 0) continue;
      add_tensor(plan, id, report({address, slot + layout.bytes.hull().end}, alignment, pool));
      break;
    }
  }
}

void find_in_storages(FaultSearch& search) {
  const Plan& plan = search.plan;
  Table<PoolId, std::int64_t> highest;
  highest.resize(plan.pools.size());
  for (const StorageId id : ids(plan.storages)) {
    const StorageLayout& storage = search.layout.storage(id);
    if (storage.bytes == 0) continue;
    const std::vector<std::int64_t> slots = slots_of(search.layout, id);
    const std::int64_t lowest = *std::ranges::min_element(slots);
    const std::int64_t begin = *std::ranges::max_element(slots);
    const std::int64_t end = end_of(begin, storage.bytes);
    highest[storage.pool] = std::max(highest[storage.pool], end);
    if (lowest < 0) {
      Finding& finding = search.add(FaultKind::kNegative, Rule::kOutOfBounds, {lowest});
      finding.storages = {id};
      finding.pool = storage.pool;
      finding.bytes = {lowest, std::min<std::int64_t>(end_of(lowest, storage.bytes), 0)};
    }
    const std::optional<Expr>& capacity = plan.pools[storage.pool].bytes;
    if (!capacity || end <= search.layout.value(*capacity)) continue;
    const std::int64_t limit = search.layout.value(*capacity);
    Finding& finding = search.add(FaultKind::kCapacity, Rule::kCapacity, {end, limit});
    finding.storages = {id};
    finding.pool = storage.pool;
    finding.bytes = {std::max(begin, limit), end};
  }
  for (const PoolId id : ids(plan.pools)) {
    if (!plan.pools[id].peak_bytes) continue;
    const std::int64_t claim = search.layout.value(*plan.pools[id].peak_bytes);
    if (claim == highest[id]) continue;
    const bool above = claim > highest[id];
    Finding& finding = search.add(above ? FaultKind::kPeakAbove : FaultKind::kPeak,
                                  above ? Rule::kWarning : Rule::kCapacity, {highest[id], claim});
    finding.pool = id;
  }
}

}  // namespace

void find_placement_faults(FaultSearch& search) {
  const std::size_t first = search.faults.size();
  find_in_tensors(search);
  name_ops(search, first);
  find_in_storages(search);
  find_in_alignment(search);
}

}  // namespace memverify
