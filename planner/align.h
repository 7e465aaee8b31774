// planner/align.h -- multiples.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>

namespace memverify {

/// The least multiple of `alignment` >= 1 that is at least `value` >= 0.
inline std::int64_t aligned_up(std::int64_t value, std::int64_t alignment) {
  const std::int64_t rest = value % alignment;
  return rest == 0 ? value : value + (alignment - rest);
}

/// The least common multiple of two numbers >= 1; nullopt: it does not fit in 64 bits.
inline std::optional<std::int64_t> common_multiple(std::int64_t a, std::int64_t b) {
  std::int64_t multiple = 0;
  if (__builtin_mul_overflow(a / std::gcd(a, b), b, &multiple)) return std::nullopt;
  return multiple;
}

}  // namespace memverify
