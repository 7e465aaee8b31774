// Where tensors and storages lie: MV108 of views and storages, MV109, MV110, a claimed peak
// (MV301).
#include <algorithm>
#include <optional>
#include <span>

#include "plan/faults_impl.h"

namespace memverify {

namespace {

void find_in_view(FaultSearch& search, TensorId id) {
  const Layout& layout = search.layout;
  const Tensor& tensor = search.plan.tensors[id];
  const ByteRange bytes = layout.tensor(id).hull;
  const ByteRange root = layout.tensor(tensor.root).hull;
  if (bytes.empty() || (root.begin <= bytes.begin && bytes.end <= root.end)) return;
  Finding& finding = search.add(FaultKind::kViewOutside, Rule::kOutOfBounds,
                                {bytes.begin, bytes.end, root.begin, root.end});
  add_tensor(search.plan, id, finding);
  finding.pool = layout.storage(tensor.storage).pool;
  const std::int64_t slot = layout.slot_address(tensor.storage, 0);
  finding.bytes = bytes.begin < root.begin
                      ? ByteRange{slot + bytes.begin, slot + std::min(bytes.end, root.begin)}
                      : ByteRange{slot + std::max(bytes.begin, root.end), slot + bytes.end};
}

/// Of powers of two, as most alignments are, without a division. `unit` >= 1.
bool is_multiple(std::int64_t number, std::int64_t unit) {
  return (unit & (unit - 1)) == 0 ? (number & (unit - 1)) == 0 : number % unit == 0;
}

Finding& add_misaligned(FaultSearch& search, ByteRange bytes, std::int64_t alignment, PoolId pool) {
  Finding& finding =
      search.add(FaultKind::kMisaligned, Rule::kMisaligned, {bytes.begin, alignment});
  finding.pool = pool;
  finding.bytes = bytes;
  return finding;
}

void find_misaligned_storages(FaultSearch& search) {
  for (const StorageId id : ids(search.plan.storages)) {
    const StorageLayout& storage = search.layout.storage(id);
    const std::int64_t alignment = search.plan.pools[storage.pool].alignment;
    if (alignment == 1) continue;
    for (const std::int64_t slot : search.layout.slots(id)) {
      if (is_multiple(slot, alignment)) continue;
      add_misaligned(search, {slot, end_of(slot, storage.bytes)}, alignment, storage.pool)
          .storages = {id};
      break;
    }
  }
}

void find_misaligned_tensor(FaultSearch& search, TensorId id) {
  const Tensor& tensor = search.plan.tensors[id];
  const PoolId pool = search.layout.storage(tensor.storage).pool;
  const bool is_root = tensor.placement == TensorKind::kRoot;
  const std::int64_t alignment = tensor.alignment != 0 ? tensor.alignment
                                 : is_root             ? search.plan.pools[pool].alignment
                                                       : 1;
  if (alignment == 1) return;
  const TensorLayout& layout = search.layout.tensor(id);
  for (const std::int64_t slot : search.layout.slots(tensor.storage)) {
    const std::int64_t address = slot + layout.offset;
    if (is_multiple(address, alignment)) continue;
    const std::int64_t end = layout.hull.empty() ? address : slot + layout.hull.end;
    add_tensor(search.plan, id, add_misaligned(search, {address, end}, alignment, pool));
    return;
  }
}

void find_in_storages(FaultSearch& search) {
  const Plan& plan = search.plan;
  Table<PoolId, std::int64_t> highest;
  highest.resize(plan.pools.size());
  for (const StorageId id : ids(plan.storages)) {
    const StorageLayout& storage = search.layout.storage(id);
    const std::span<const std::int64_t> slots = search.layout.slots(id);
    const std::int64_t lowest = *std::ranges::min_element(slots);
    const std::int64_t begin = *std::ranges::max_element(slots);
    const std::int64_t end = end_of(begin, storage.bytes);
    highest[storage.pool] = std::max(highest[storage.pool], end);
    if (lowest < 0 && !search.negative_named[index(id)]) {
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
  find_in_storages(search);
  find_misaligned_storages(search);
  for (const TensorId id : ids(search.plan.tensors)) {
    if (search.plan.tensors[id].placement == TensorKind::kView) find_in_view(search, id);
    find_misaligned_tensor(search, id);
  }
}

}  // namespace memverify
