#include "tests/support/reference_static.h"

#include <algorithm>
#include <set>

namespace memverify::testing {
namespace {

/// One access of one command instance, with its bytes.
struct Placed {
  const Access* access = nullptr;
  std::int64_t slot = 0;
  std::int64_t instance = 0;
  Bytes bytes;
};

class Checker {
 public:
  Checker(const Sizes& sizes, FindingSet& findings)
      : sizes_(sizes), plan_(sizes.plan), findings_(findings) {}

  void check() {
    for (const OpId id : ids(plan_.ops)) {
      const Op& op = plan_.ops[id];
      if (op.kind == OpKind::kView) {
        view_op(id);
        continue;
      }
      for (std::int64_t i = 0; i < *plan_.iterations; ++i) {
        if (op.runs == Runs::kFirst && i != 0) continue;
        if (op.runs == Runs::kLast && i != *plan_.iterations - 1) continue;
        const std::vector<Placed> accesses = place(op, i);
        for (const Placed& access : accesses) {
          bounds(id, access);
          own_family(op, access);
          const bool known = op.kind != OpKind::kUnknown;  // [S-37]
          if (known && writes_bytes(access.access->kind)) written_.push_back(access);
        }
        in_place(id, accesses);
      }
    }
    for (const TensorId id : ids(plan_.tensors)) tensor(id);
    for (const PoolId id : ids(plan_.pools)) pool(id);
    boundary();
  }

 private:
  bool listed(const std::vector<TensorId>& list, TensorId tensor) const {
    return std::ranges::count(list, tensor) > 0;
  }
  bool is_output(TensorId tensor) const {
    return std::ranges::count(plan_.outputs, tensor, &Output::tensor) > 0;
  }
  StorageId storage_of(TensorId tensor) const { return plan_.tensors[tensor].storage; }
  PoolId pool_of(TensorId tensor) const { return plan_.storages[storage_of(tensor)].pool; }

  std::vector<Placed> place(const Op& op, std::int64_t iteration) const {
    std::vector<Placed> result;
    for (const Access& access : plan_.accesses_of(op)) {
      Placed placed;
      placed.access = &access;
      if (access.tensor == kNone<TensorId>) {
        placed.bytes = pool_bytes(access);
      } else {
        placed.instance = instance_of(plan_, access.tensor, iteration, access.distance);
        placed.slot = sizes_.slot_index(storage_of(access.tensor), placed.instance);
        placed.bytes = sizes_.access_bytes(access, placed.slot);
      }
      result.push_back(placed);
    }
    return result;
  }

  /// A part that is open at the end is taken to the last byte of any storage of the pool.
  Bytes pool_bytes(const Access& access) const {
    const Part part = access.part == Access::kWhole ? Part{} : plan_.parts[access.part];
    const std::int64_t begin = sizes_.value(part.offset);
    std::int64_t end = part.bytes ? begin + sizes_.value(*part.bytes) : highest_end(access.pool);
    if (begin < 0 || (part.bytes && end < begin)) sizes_.invalid = true;
    if (end - begin > sizes_.max_bytes) sizes_.too_large = true;
    Bytes result;
    for (std::int64_t b = begin; b < end && !sizes_.too_large; ++b) result.push_back(b);
    return result;
  }

  std::int64_t highest_end(PoolId pool) const {
    std::int64_t highest = 0;
    for (const StorageId id : ids(plan_.storages)) {
      if (plan_.storages[id].pool != pool) continue;
      for (std::int64_t slot = 0; slot < sizes_.slot_count(id); ++slot) {
        const std::int64_t end =
            sizes_.slot_address(id, slot) + sizes_.value(plan_.storages[id].bytes);
        highest = std::max(highest, end);
      }
    }
    return highest;
  }

  // MV113
  void view_op(OpId id) {
    std::set<TensorId> roots;
    for (const Access& access : plan_.accesses_of(plan_.ops[id])) {
      roots.insert(plan_.tensors[access.tensor].root);
    }
    if (roots.size() > 1) findings_.add(Rule::kIncoherent, {id});
  }

  // MV108 of a command
  void bounds(OpId id, const Placed& placed) {
    const Access& access = *placed.access;
    PoolId pool = access.pool;
    bool outside = false;
    if (access.tensor == kNone<TensorId>) {
      const auto capacity = plan_.pools[pool].bytes;
      if (capacity && access.part != Access::kWhole) {
        outside = sizes_.value(plan_.parts[access.part].offset) > sizes_.value(*capacity);
      }
    } else {
      pool = pool_of(access.tensor);
      const Elements elements = sizes_.elements(access.tensor, placed.slot);
      if (elements.addresses.empty()) return;
      outside = part_outside(access, elements);
      const StorageId storage = storage_of(access.tensor);
      const std::int64_t begin = sizes_.slot_address(storage, placed.slot);
      const std::int64_t end = begin + sizes_.value(plan_.storages[storage].bytes);
      for (const std::int64_t b : placed.bytes) outside = outside || b < begin || b >= end;
    }
    for (const std::int64_t b : placed.bytes) {
      if (b < 0) outside = true;
      if (b < 0 && access.tensor != kNone<TensorId>) negative_.insert(storage_of(access.tensor));
      if (plan_.pools[pool].bytes && b >= sizes_.value(*plan_.pools[pool].bytes)) outside = true;
    }
    if (outside && access.tensor == kNone<TensorId>) findings_.add(Rule::kOutOfBounds, {id});
    if (outside && access.tensor != kNone<TensorId>) {
      findings_.add(Rule::kOutOfBounds, {id}, {access.tensor});
    }
  }

  bool part_outside(const Access& access, const Elements& elements) const {
    if (access.part == Access::kWhole) return false;
    const Part& part = plan_.parts[access.part];
    const std::int64_t extent = elements.bytes().back() + 1 - elements.zero;
    const std::int64_t begin = sizes_.value(part.offset);
    const std::int64_t end = part.bytes ? begin + sizes_.value(*part.bytes) : begin;
    return begin < 0 || begin > extent || end > extent;
  }

  // MV107. What an unknown command lists is what it may touch, not what it does.
  void in_place(OpId id, const std::vector<Placed>& accesses) {
    const Op& op = plan_.ops[id];
    if (op.kind == OpKind::kUnknown) return;
    bool fault = false;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Placed& a = accesses[i];
      if (writes_bytes(a.access->kind) && a.access->tensor != kNone<TensorId>) {
        fault = fault || self_overlaps(sizes_.elements(a.access->tensor, a.slot));
      }
      for (std::size_t j = 0; j < accesses.size(); ++j) {
        const Placed& b = accesses[j];
        if (i == j || !intersects_in_pool(a, b)) continue;
        const AccessKind x = a.access->kind;
        const AccessKind y = b.access->kind;
        if (x == AccessKind::kRead && y != AccessKind::kRead) {
          fault = fault || !(same_bytes(a, b) || paired(op, a, b));
        } else if (i < j && writes_bytes(x) && writes_bytes(y)) {
          const bool accumulates = x == AccessKind::kAccumulate && y == AccessKind::kAccumulate &&
                                   a.access->update == b.access->update && same_dtype(a, b);
          fault = fault || !accumulates;
        }
      }
    }
    if (fault) findings_.add(Rule::kInPlace, {id});
  }

  PoolId pool_of(const Placed& placed) const {
    const Access& access = *placed.access;
    return access.tensor == kNone<TensorId> ? access.pool : pool_of(access.tensor);
  }
  bool intersects_in_pool(const Placed& a, const Placed& b) const {
    return pool_of(a) == pool_of(b) && intersects(a.bytes, b.bytes);
  }
  bool same_dtype(const Placed& a, const Placed& b) const {
    return plan_.tensors[a.access->tensor].dtype == plan_.tensors[b.access->tensor].dtype;
  }
  static bool self_overlaps(const Elements& elements) {
    const auto all = static_cast<std::int64_t>(elements.addresses.size()) * elements.size;
    return static_cast<std::int64_t>(elements.bytes().size()) < all;
  }
  /// Read-modify-write.
  static bool same_bytes(const Placed& read, const Placed& written) {
    return read.access->tensor == written.access->tensor && read.access->distance == 0 &&
           written.access->distance == 0 && read.bytes == written.bytes;
  }

  bool paired(const Op& op, const Placed& read, const Placed& written) const {
    for (const InPlace& pair : plan_.in_place_of(op)) {
      if (pair.read != read.access->tensor || pair.written != written.access->tensor) continue;
      if (pair.any || same_elements(pair, read.slot, written.slot)) return true;
    }
    return false;
  }
  /// The k-th element has the same address in both. A tensor given by its bytes alone has no
  /// elements to compare: its bytes must be those of the other, in the same order.
  bool same_elements(const InPlace& pair, std::int64_t read_slot, std::int64_t written_slot) const {
    const Elements a = sizes_.elements(pair.read, read_slot);
    const Elements b = sizes_.elements(pair.written, written_slot);
    const bool untyped = plan_.tensors[pair.read].dtype == DType::kNone ||
                         plan_.tensors[pair.written].dtype == DType::kNone;
    if (untyped) return byte_sequence(a) == byte_sequence(b);
    return bits(plan_.tensors[pair.read].dtype) == bits(plan_.tensors[pair.written].dtype) &&
           a.addresses == b.addresses;
  }
  static Bytes byte_sequence(const Elements& elements) {
    Bytes result;
    for (const std::int64_t address : elements.addresses) {
      for (std::int64_t k = 0; k < elements.size; ++k) result.push_back(address + k);
    }
    return result;
  }

  // MV106: an input or constant that its own family writes.
  void own_family(const Op& op, const Placed& placed) {
    const Access& access = *placed.access;
    if (op.kind != OpKind::kOp || !writes_bytes(access.kind)) return;
    if (access.tensor == kNone<TensorId>) return;
    for (const auto* list : {&plan_.inputs, &plan_.constants}) {
      for (const TensorId kept : *list) {
        if (plan_.tensors[kept].root != plan_.tensors[access.tensor].root) continue;
        if (listed(plan_.donated, kept)) continue;
        if (is_output(kept) && !listed(plan_.constants, kept)) continue;
        if (intersects(sizes_.elements(kept, placed.slot).bytes(), placed.bytes)) {
          findings_.add(Rule::kBoundary, {}, {kept});
        }
      }
    }
  }

  // MV108 of a view, MV109 of a tensor
  void tensor(TensorId id) {
    const Tensor& tensor = plan_.tensors[id];
    for (std::int64_t slot = 0; slot < sizes_.slot_count(tensor.storage); ++slot) {
      const Elements elements = sizes_.elements(id, slot);
      const bool view = tensor.placement == TensorKind::kView;
      const std::int64_t alignment = tensor.alignment != 0 ? tensor.alignment
                                     : view                ? 1
                                                           : plan_.pools[pool_of(id)].alignment;
      if (elements.zero % alignment != 0) findings_.add(Rule::kMisaligned, {}, {id});
      if (!view || elements.addresses.empty()) continue;
      const Bytes root = sizes_.elements(tensor.root, slot).bytes();
      const Bytes bytes = elements.bytes();
      if (root.empty() || bytes.front() < root.front() || bytes.back() > root.back()) {
        findings_.add(Rule::kOutOfBounds, {}, {id});
      }
    }
  }

  // MV108 and MV109 of a storage, MV110, MV301 of a claimed peak
  void pool(PoolId id) {
    const Pool& pool = plan_.pools[id];
    for (const StorageId s : ids(plan_.storages)) {
      if (plan_.storages[s].pool != id) continue;
      for (std::int64_t slot = 0; slot < sizes_.slot_count(s); ++slot) {
        const std::int64_t begin = sizes_.slot_address(s, slot);
        const std::int64_t end = begin + sizes_.value(plan_.storages[s].bytes);
        if (sizes_.value(plan_.storages[s].bytes) < 0) sizes_.invalid = true;
        if (begin < 0 && !negative_.contains(s)) findings_.add(Rule::kOutOfBounds, {}, {}, {s});
        if (begin % pool.alignment != 0) findings_.add(Rule::kMisaligned, {}, {}, {s});
        if (pool.bytes && end > sizes_.value(*pool.bytes)) {
          findings_.add(Rule::kCapacity, {}, {}, {s}, id);
        }
      }
    }
    if (!pool.peak_bytes) return;
    const std::int64_t claimed = sizes_.value(*pool.peak_bytes);
    if (highest_end(id) > claimed) findings_.add(Rule::kCapacity, {}, {}, {}, id);
    if (highest_end(id) < claimed) findings_.add(Rule::kWarning, {}, {}, {}, id);
  }

  // MV112 and MV106 or MV301 of inputs and constants
  void boundary() {
    std::vector<TensorId> all = plan_.inputs;
    all.insert(all.end(), plan_.constants.begin(), plan_.constants.end());
    for (const TensorId tensor : all) {
      for (const Op& op : plan_.ops) {
        if (op.kind == OpKind::kAlloc && op.storage == storage_of(tensor)) {
          findings_.add(Rule::kLifetime, {}, {tensor}, {storage_of(tensor)});
        }
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = i + 1; j < all.size(); ++j) share(all[i], all[j]);
    }
  }

  Bytes in_every_slot(TensorId tensor) const {
    std::set<std::int64_t> bytes;
    for (std::int64_t slot = 0; slot < sizes_.slot_count(storage_of(tensor)); ++slot) {
      const Bytes here = sizes_.elements(tensor, slot).bytes();
      bytes.insert(here.begin(), here.end());
    }
    return {bytes.begin(), bytes.end()};
  }

  void share(TensorId a, TensorId b) {
    if (plan_.tensors[a].root == plan_.tensors[b].root || pool_of(a) != pool_of(b)) return;
    Bytes common;
    std::ranges::set_intersection(in_every_slot(a), in_every_slot(b), std::back_inserter(common));
    if (common.empty()) return;
    const bool written = std::ranges::any_of(written_, [&](const Placed& placed) {
      return pool_of(placed) == pool_of(a) && intersects(placed.bytes, common);
    });
    if (written || listed(plan_.donated, a) || listed(plan_.donated, b)) {
      findings_.add(Rule::kBoundary, {}, {a, b});
    } else if (!listed(plan_.constants, a) || !listed(plan_.constants, b)) {
      findings_.add(Rule::kWarning, {}, {a, b});
    }
  }

  const Sizes& sizes_;
  const Plan& plan_;
  FindingSet& findings_;
  std::set<StorageId> negative_;  ///< Named already by an access at a negative address.
  std::vector<Placed> written_;
};

}  // namespace

void reference_static_faults(const Sizes& sizes, FindingSet& findings) {
  Checker(sizes, findings).check();
}

}  // namespace memverify::testing
