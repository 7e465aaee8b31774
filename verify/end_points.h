// verify/end_points.h -- addresses, sorted and numbered.
//
// Problem: the ends of all runs of all accesses cut the bytes of a pool into pieces; strided
//   tensors give each end many times, and every end is looked up again.
// Idea: where the addresses lie close together, a bit for each address between the least and the
//   greatest says which are there, and counts of the bits before each word number them. Addresses
//   are counted in the greatest power of two that divides all distances. Else they are sorted and
//   searched.
// Cost: O(n) with at most two words an address given and O(1) a number, or O(n log n) and O(log n).
// Tested by tests/unit/verify/end_points_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memverify {

class EndPoints {
 public:
  EndPoints() = default;
  explicit EndPoints(std::vector<std::int64_t> addresses) { assign(addresses); }

  /// Those of `addresses`, in any order, each as often as it likes; fewer than 2^32 distinct ones.
  /// Leaves anything there.
  void assign(std::vector<std::int64_t>& addresses);

  /// Ascending, each once.
  const std::vector<std::int64_t>& sorted() const { return sorted_; }
  /// How many are less than `address`, which must be one of them.
  std::uint32_t number(std::int64_t address) const {
    if (bits_.empty()) {
      const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), address);
      return static_cast<std::uint32_t>(at - sorted_.begin());
    }
    const std::uint64_t at = place(address);
    const std::uint64_t before = bits_[at / 64] & ((std::uint64_t{1} << (at % 64)) - 1);
    return counted_[at / 64] + static_cast<std::uint32_t>(std::popcount(before));
  }

 private:
  void mark(const std::vector<std::int64_t>& addresses, std::size_t words);
  std::uint64_t place(std::int64_t address) const {
    return (static_cast<std::uint64_t>(address) - static_cast<std::uint64_t>(least_)) >> shift_;
  }

  std::vector<std::int64_t> sorted_;
  std::int64_t least_ = 0;
  int shift_ = 0;
  std::vector<std::uint64_t> bits_;     ///< By place; empty: not used.
  std::vector<std::uint32_t> counted_;  ///< By word: bits in the words before.
};

}  // namespace memverify
