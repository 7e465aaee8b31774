// tools/draw.h -- random draws that are the same on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace memverify {

/// A sequence of draws that its seed decides.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  /// In [0, bound); bound >= 1.
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  /// In [low, high]; low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  bool percent(std::size_t chance) { return below(100) < chance; }
  /// One of `items`, which is not empty.
  template <typename T>
  const T& of(const std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// A seed for the `index`-th of many things that are drawn independently under one seed.
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15U + index + 1;  // splitmix64
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace memverify
