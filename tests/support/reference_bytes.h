// tests/support/reference_bytes.h -- where the bytes of tensors and accesses are, one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace memverify::testing {

/// Addresses in one pool, ascending, without repetition.
using Bytes = std::vector<std::int64_t>;

bool intersects(const Bytes& a, const Bytes& b);

/// The elements of a tensor in index order. A tensor given by its bytes has one-byte elements, a
/// four-bit tensor one "element" a byte.
struct Elements {
  std::int64_t zero = 0;                ///< Address of element 0.
  std::int64_t size = 1;                ///< Bytes of one element.
  std::vector<std::int64_t> addresses;  ///< Of each element's first byte.
  Bytes bytes() const;
};

/// A plan under given symbol values.
struct Sizes {
  const Plan& plan;
  Valuation valuation;
  std::int64_t max_bytes = 0;  ///< Of one tensor; more sets `too_large`.
  mutable bool too_large = false;
  mutable bool invalid = false;  ///< A value overflows or a size is negative.

  std::int64_t value(const Expr& expr) const;
  std::int64_t slot_count(StorageId storage) const;
  std::int64_t slot_index(StorageId storage, std::int64_t instance) const;
  std::int64_t slot_address(StorageId storage, std::int64_t slot) const;
  /// With the root's storage at its slot `slot`.
  Elements elements(TensorId tensor, std::int64_t slot) const;
  /// The bytes of an access to a tensor, clipped to its part. Not for a pool's bytes.
  Bytes access_bytes(const Access& access, std::int64_t slot) const;
};

/// True iff the family of `root` is one instance for all iterations: only `first` ops write it,
/// besides accumulates, or nobody does and its storage does not rotate.
bool single_instance(const Plan& plan, TensorId root);

/// The instance that an access of the command of `iteration` means.
std::int64_t instance_of(const Plan& plan, TensorId tensor, std::int64_t iteration,
                         std::int64_t distance);

/// True for writes, accumulates and clobbers.
bool writes_bytes(AccessKind kind);

}  // namespace memverify::testing
