// planner/align.h -- multiples.
#pragma once

#include <cstdint>

namespace memverify {

/// The least multiple of `alignment` >= 1 that is at least `value` >= 0.
inline std::int64_t aligned_up(std::int64_t value, std::int64_t alignment) {
  const std::int64_t rest = value % alignment;
  return rest == 0 ? value : value + (alignment - rest);
}

}  // namespace memverify
