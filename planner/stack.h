// planner/stack.h -- bytes that are shared by nothing, around fixed buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/problem.h"

namespace memverify {

/// Hands out ranges above each other, in the order asked for, that touch no fixed buffer.
class Stack {
 public:
  explicit Stack(const Problem& problem);
  /// Where `bytes` > 0 bytes begin, a multiple of `alignment`. Amortised O(1).
  std::int64_t push(std::int64_t bytes, std::int64_t alignment);

 private:
  std::vector<ByteRange> fixed_;  ///< By begin; may overlap each other.
  std::size_t next_ = 0;
  std::int64_t top_ = 0;
};

/// The peak of these offsets.
std::int64_t peak_of(const Problem& problem, const std::vector<std::int64_t>& offsets);

/// Peaks of placements whose buffers stand on 0, a fixed one or each other are multiples of it.
std::int64_t grain_of(const Problem& problem);

}  // namespace memverify
