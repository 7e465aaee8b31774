#include "tests/support/reference_bytes.h"

#include <algorithm>

namespace memverify::testing {

bool intersects(const Bytes& a, const Bytes& b) {
  Bytes common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return !common.empty();
}

Bytes Elements::bytes() const {
  Bytes all;
  for (const std::int64_t address : addresses) {
    for (std::int64_t k = 0; k < size; ++k) all.push_back(address + k);
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::int64_t Sizes::value(const Expr& expr) const {
  const std::optional<std::int64_t> result = plan.formulas.eval(expr, valuation);
  if (!result) invalid = true;
  return result.value_or(0);
}

std::int64_t Sizes::slot_count(StorageId storage) const {
  return plan.storages[storage].slots.size();
}

std::int64_t Sizes::slot_index(StorageId storage, std::int64_t instance) const {
  const std::int64_t count = slot_count(storage);
  return ((instance % count) + count) % count;
}

std::int64_t Sizes::slot_address(StorageId storage, std::int64_t slot) const {
  const Range slots = plan.storages[storage].slots;
  return value(plan.exprs[slots.begin + static_cast<std::size_t>(slot)]);
}

Elements Sizes::elements(TensorId id, std::int64_t slot) const {
  const Tensor& tensor = plan.tensors[id];
  Elements result;
  result.zero = value(tensor.offset);
  for (TensorId at = id; plan.tensors[at].placement == TensorKind::kView;) {
    at = plan.tensors[at].base;
    result.zero += value(plan.tensors[at].offset);
  }
  result.zero += slot_address(tensor.storage, slot);

  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> strides;  // In elements.
  std::int64_t total = 1;
  if (tensor.dtype == DType::kNone) {
    counts.push_back(value(tensor.bytes));
  } else {
    for (std::uint32_t i = tensor.shape.begin; i < tensor.shape.end; ++i) {
      counts.push_back(value(plan.exprs[i]));
    }
  }
  for (const std::int64_t count : counts) {
    if (count < 0) invalid = true;
    if (count <= 0) return result;
    if (count > max_bytes || total > max_bytes / count) too_large = true;
    if (too_large) return result;
    total *= count;
  }
  if (tensor.has_strides) {
    for (std::uint32_t i = tensor.strides.begin; i < tensor.strides.end; ++i) {
      strides.push_back(value(plan.exprs[i]));
    }
  } else {
    strides.assign(counts.size(), 1);
    for (std::size_t d = counts.size(); d-- > 1;) strides[d - 1] = strides[d] * counts[d];
  }
  const int width = bits(tensor.dtype);
  if (width < 8) {  // Contiguous, two elements a byte.
    for (std::int64_t k = 0; k < (total + 1) / 2; ++k) result.addresses.push_back(result.zero + k);
    return result;
  }
  result.size = width / 8;
  for (std::int64_t k = 0; k < total; ++k) {
    std::int64_t address = result.zero;
    std::int64_t rest = k;
    for (std::size_t d = counts.size(); d-- > 0;) {
      address += (rest % counts[d]) * strides[d] * result.size;
      rest /= counts[d];
    }
    result.addresses.push_back(address);
  }
  return result;
}

Bytes Sizes::access_bytes(const Access& access, std::int64_t slot) const {
  const Elements all = elements(access.tensor, slot);
  Bytes bytes = all.bytes();
  if (access.part == Access::kWhole) return bytes;
  const Part& part = plan.parts[access.part];
  if (value(part.offset) < 0 || (part.bytes && value(*part.bytes) < 0)) invalid = true;
  const std::int64_t begin = all.zero + value(part.offset);
  const std::optional<std::int64_t> end =
      part.bytes ? std::optional(begin + value(*part.bytes)) : std::nullopt;
  std::erase_if(bytes, [&](std::int64_t b) { return b < begin || (end && b >= *end); });
  return bytes;
}

bool single_instance(const Plan& plan, TensorId root) {
  if (plan.storages[plan.tensors[root].storage].slots.size() != 1) return false;
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::kView) continue;
    for (const Access& access : plan.accesses_of(op)) {
      const bool writes = access.kind == AccessKind::kWrite || access.kind == AccessKind::kClobber;
      if (!writes || access.tensor == kNone<TensorId>) continue;
      if (plan.tensors[access.tensor].root != root) continue;
      if (op.runs != Runs::kFirst) return false;
    }
  }
  return true;
}

std::int64_t instance_of(const Plan& plan, TensorId tensor, std::int64_t iteration,
                         std::int64_t distance) {
  return single_instance(plan, plan.tensors[tensor].root) ? 0 : iteration - distance;
}

bool writes_bytes(AccessKind kind) { return kind != AccessKind::kRead; }

}  // namespace memverify::testing
