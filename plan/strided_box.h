// plan/strided_box.h -- private to region*.cpp: strided boxes in 128 bits, and the questions about
// them.
//
// Problem: which bytes lie in `base + sum(i_k * stride_k) + [0, run)`, 0 <= i_k < count_k? Whether
//   one given byte does is a bounded linear Diophantine problem, NP-complete when the number of
//   dims is not fixed.
// Idea: (1) a normal form that merges dims with each other and with the run wherever that keeps the
//   bytes; most boxes of real programs are then nested and every question is greedy. (2) For the
//   rest a depth-first search, largest stride first, over the values that interval bounds and the
//   gcd of the smaller strides leave; the values are found by a Euclid-like jump, not by trial, so
//   that two dims cost O(log) and only the dims above them are searched. (3) Two boxes share a byte
//   iff one byte lies in a third box, their difference (`share_byte`).
// Cost: nested boxes O(d) a question; else O(log) times the values tried for all but two dims.
// Example: {stride 10, count 3}, {stride 4, count 2}, run 2 holds 0-2 4-6 10-12 14-16 20-22 24-26.
// Reference: numpy/core/src/common/mem_overlap.c for the problem; the jump is the well-known "first
//   x with L <= a x mod m <= R".
// Tested by tests/unit/plan/region_test.cpp and tests/agreement/region_numpy.py.
#pragma once

#include <optional>
#include <vector>

#include "plan/region.h"

namespace memverify {

__extension__ typedef __int128 Int128;

/// Invariant after `normalise`: strides positive, strictly descending, > run; counts >= 2; no two
/// dims that merge. Magnitudes: everything fits in 67 bits, strides in 64.
struct StridedBox {
  struct BoxDim {
    Int128 count = 0;
    Int128 stride = 0;
    Int128 span = 0;  ///< Distance of first and last element over this dim and all smaller ones.
    Int128 gcd = 0;   ///< Of this stride and all smaller ones.
  };
  Int128 base = 0;
  Int128 run = 0;  ///< >= 1.
  std::vector<BoxDim> dims;

  /// Establishes the invariant; the bytes stay the same. Counts and run must be >= 1.
  void normalise();

  Int128 span() const { return dims.empty() ? 0 : dims.front().span; }
  Int128 end() const { return base + span() + run; }
  /// True iff the elements' starts ascend with the index vector, outermost dim first.
  bool is_ordered() const;
  /// True iff, besides, no two runs overlap or touch: the normal form is then unique.
  bool is_nested() const;

  bool contains(Int128 address) const;
  /// The least start of an element that is >= `address`, or the greatest that is <= `address`.
  std::optional<Int128> first_start(Int128 address) const;
  std::optional<Int128> last_start(Int128 address) const;
  /// The end of the maximal contiguous run of bytes around `address`, which must lie in the box;
  /// stops early once the end is >= `enough`.
  Int128 run_end(Int128 address, Int128 enough) const;

  /// The box cut to `[begin, end)`, as normal boxes whose union is exactly that (they may
  /// interleave). At most 2d + 1 for ordered boxes.
  std::vector<StridedBox> pieces(Int128 begin, Int128 end) const;
};

/// True iff some byte lies in both.
bool share_byte(const StridedBox& a, const StridedBox& b);

}  // namespace memverify
