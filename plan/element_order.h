// plan/element_order.h -- where the k-th element of a tensor lies, for in-place pairs ([S-48]).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"

namespace memverify {

/// Where the elements of a tensor lie relative to element 0, in index order: dims from the
/// outermost in, merged wherever one continues the other. Unique: two tensors have the same
/// sequence iff `dims` are equal.
struct ElementOrder {
  int element_bits = 0;   ///< 0 for a tensor given by its bytes alone: its elements are not known.
  std::vector<Dim> dims;  ///< Counts >= 2; strides in elements, not bytes.

  /// True iff the elements follow each other without a gap.
  bool is_dense() const { return dims.empty() || (dims.size() == 1 && dims[0].stride == 1); }
};

ElementOrder element_order(const Plan& plan, const Layout& layout, TensorId tensor);

/// One side of an in-place pair: the tensor, the address of its element 0, the bytes accessed.
struct PlacedTensor {
  TensorId tensor = kNone<TensorId>;
  std::int64_t element_0 = 0;
  const Region& bytes;
};

/// True iff both are exactly the same bytes with the k-th element at the same address in both. A
/// tensor given by its bytes alone agrees with any dense one. Of strided tensors, parts agree only
/// where the whole tensors do.
bool same_elements(const Plan& plan, const Layout& layout, const PlacedTensor& a,
                   const PlacedTensor& b);

/// True iff two elements of the tensor share a byte.
bool has_self_overlap(const Plan& plan, const Layout& layout, TensorId tensor);

}  // namespace memverify
