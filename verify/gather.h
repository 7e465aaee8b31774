// verify/gather.h -- bytes that the same strided regions hold, side by side.
//
// Problem: a strided access has many runs, and every pass cuts, looks up and overwrites each of
//   them, though the bytes of a column always see the same accesses.
// Idea: what an access touches does not depend on the order in which bytes are numbered. A *place*
//   is a set of bytes that each region holds as a whole or not at all: the pieces between the ends
//   of contiguous ranges, split by one strided region after the other. Places are numbered in the
//   order of their first bytes, so a contiguous range stays one range of places, and a tile becomes
//   one.
// Cost: O(points that strided regions hold), where all ends cut the bytes into points; one word a
//   point. Gives up beyond 2^27 of them.
// Example: rows of 4 bytes ab ab ab, columns a and b: places {a a a} and {b b b}, 0 and 1.
// Reference: partition refinement (Paige and Tarjan 1987).
// Tested by tests/unit/verify/gather_test.cpp, tests/agreement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/region.h"
#include "verify/end_points.h"

namespace memverify {

/// The places of one pool.
class Gathering {
 public:
  /// Regions are given by their runs: not empty, ascending and disjoint. nullopt: it takes too
  /// long.
  static std::optional<Gathering> make(std::span<const ByteRange> contiguous,
                                       std::span<const std::span<const ByteRange>> strided);

  /// The places `[begin, end)` of one of the contiguous ranges.
  ByteRange of_contiguous(ByteRange range) const { return {place(range.begin), place(range.end)}; }
  /// Those of a strided region, ascending and not touching. Cost as its points.
  std::vector<ByteRange> of_strided(std::span<const ByteRange> runs);

 private:
  explicit Gathering(std::vector<std::int64_t> ends);
  std::int64_t place(std::int64_t address) const { return place_[points_.number(address)]; }
  void cut_pieces(std::span<const ByteRange> contiguous);
  void split(std::span<const ByteRange> runs);
  void number_places();
  template <typename Visit>
  void for_each_point(std::span<const ByteRange> runs, Visit&& visit) const;

  EndPoints points_;
  std::vector<std::uint32_t> place_;  ///< By point.
  std::vector<std::uint32_t> size_;   ///< By place: its points, while they are split.
  std::vector<std::uint32_t> stamp_;  ///< By place: the last region that came upon it.
  std::vector<std::uint32_t> into_;   ///< By place: what that region holds of it.
  std::vector<std::uint32_t> free_;   ///< Places without points.
  std::uint32_t regions_ = 0;
};

}  // namespace memverify
