// plan/layout.h -- where the bytes are: a plan's regions under given symbol values.
//
// The one place where sizes, offsets and strides become numbers. Every engine asks here for the
// bytes of an access; none decides here what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/region.h"
#include "plan/result.h"

namespace memverify {

/// The numbers of one storage.
struct StorageLayout {
  PoolId pool = kNone<PoolId>;
  std::int64_t bytes = 0;
  Range slots;  ///< In `Layout::slot_offsets`.
};

/// The numbers of one tensor, relative to the start of its storage's slot.
struct TensorLayout {
  std::int64_t offset = 0;               ///< Of element 0.
  ByteRange hull;                        ///< The least range with all its bytes.
  StorageId storage = kNone<StorageId>;  ///< As `Tensor::storage`.
  std::uint32_t strided = kContiguous;   ///< Number of its region among those with strides.
  static constexpr std::uint32_t kContiguous = 0xFFFFFFFFU;
  /// True iff it is given by `bytes` alone or row-major, so that its bytes are those of the hull.
  bool is_contiguous() const noexcept { return strided == kContiguous; }
};

/// True iff the strides (in elements, as many as dimensions) are those of a row-major contiguous
/// tensor; dimensions of one element may have any stride, and so may a tensor of no elements.
bool is_row_major(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// The numbers of a plan under one value for each symbol.
class Layout {
 public:
  /// Evaluates every size, offset, shape and stride. Errors: "expr.overflow", "size.negative",
  /// "tensor.four_bit" (4-bit elements that are not contiguous) and "value.negative" (a wait or
  /// signal, looked at in the first and last iteration), with the pointer of the value; at most
  /// 100. All tensors must be placed ("tensor.unplaced" names the planner). `valuation.symbols`
  /// must hold a value for every symbol.
  static Result<Layout> make(const Plan& plan, const Valuation& valuation);

  /// The numbers of a storage.
  const StorageLayout& storage(StorageId id) const { return storages_[id]; }
  /// The numbers of a tensor.
  const TensorLayout& tensor(TensorId id) const { return tensors_[id]; }
  /// Addresses of its slots, at least one.
  std::span<const std::int64_t> slots(StorageId id) const {
    const Range range = storages_[id].slots;
    return std::span(slot_offsets_).subspan(range.begin, range.size());
  }
  /// Address of the slot that iteration `iteration` (may be negative) of the storage uses.
  std::int64_t slot_address(StorageId id, std::int64_t iteration) const;
  /// Index of that slot: `iteration` mod the number of slots, never negative.
  std::uint32_t slot_index(StorageId id, std::int64_t iteration) const;

  /// The bytes of the whole tensor when its family's instance is `instance`.
  Region tensor_region(const Plan& plan, TensorId tensor, std::int64_t instance) const;
  /// The bytes of an access: its tensor's bytes at `instance`, clipped to its part; or the pool's
  /// bytes it clobbers.
  Region access_region(const Plan& plan, const Access& access, std::int64_t instance) const;

  /// The value of a formula that does not use `iteration` under this layout's symbols.
  std::int64_t value(Expr expr) const;
  /// The symbol values that it was made for.
  const Valuation& valuation() const { return valuation_; }

 private:
  class Maker;
  Valuation valuation_;
  std::vector<std::optional<std::int64_t>> formula_values_;  ///< nullopt: uses `iteration`.
  Table<StorageId, StorageLayout> storages_;
  Table<TensorId, TensorLayout> tensors_;
  std::vector<Region> strided_;  ///< By TensorLayout::strided, with the slot at address 0.
  std::vector<std::int64_t> slot_offsets_;
};

}  // namespace memverify
