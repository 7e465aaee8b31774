// cuda_check/byte_ranges.h -- sorted, disjoint lists of byte ranges.
#pragma once

#include <vector>

#include "plan/region.h"

namespace memverify::device {

using Ranges = std::vector<ByteRange>;

/// The bytes of `a` that lie in `b`, and those that do not. Both sorted and disjoint; linear.
Ranges common(const Ranges& a, const Ranges& b);
Ranges without(const Ranges& a, const Ranges& b);
/// Sorted and disjoint.
Ranges united(Ranges all);

}  // namespace memverify::device
