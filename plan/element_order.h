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

/// True iff `a` with its element 0 at `at_a` and `b` with its at `at_b` are exactly the same bytes
/// with the k-th element at the same address in both. A tensor given by its bytes alone agrees with
/// any row-major one.
bool same_elements(const Plan& plan, const Layout& layout, TensorId a, std::int64_t at_a,
                   TensorId b, std::int64_t at_b);

/// True iff two elements of the tensor share a byte.
bool has_self_overlap(const Plan& plan, const Layout& layout, TensorId tensor);

}  // namespace memverify
