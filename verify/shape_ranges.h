// verify/shape_ranges.h -- regions as ranges of bytes or of places; private to verify/footprint.
//
// Problem: thousands of tensors lie in the same slots in turn, and each strided one is thousands of
//   runs.
// Idea: equal strided regions share their runs. Where accesses have many runs in all, ranges of
//   places (verify/gather.h) stand in for them.
// Cost: O(1) a region, and O(runs) for each distinct strided one.
// Tested by tests/unit/verify/footprint_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "plan/region.h"
#include "verify/footprint.h"
#include "verify/gather.h"

namespace memverify {

class ShapeRanges {
 public:
  using Shape = Footprints::Shape;

  /// At most `max_runs` are listed because of strided regions.
  explicit ShapeRanges(std::size_t max_runs) : max_runs_(max_runs) {}
  void reserve(std::size_t shapes) { ranges_.reserve(shapes); }

  /// The shape of a region. Where its ranges are is known when they are listed.
  Shape add(const Region& region);
  /// The same for contiguous bytes.
  Shape add(PoolId pool, ByteRange bytes) {
    const auto begin = static_cast<std::uint32_t>(ranges_.size());
    if (!bytes.empty()) ranges_.push_back(bytes);
    return {pool, begin, static_cast<std::uint32_t>(ranges_.size())};
  }
  bool has_strided() const { return !pool_.empty(); }
  /// The runs of a shape; of a contiguous one 1, even if it is empty.
  std::size_t runs(const Shape& shape) const {
    return is_strided(shape) ? runs_of(shape.begin).size() : 1;
  }

  // When all are added, one of these fills `ranges()`, and says where in there each shape's are.

  /// Runs; false if there are too many.
  bool list_runs(std::span<Shape> shapes);
  /// Places, of `pools` pools; false if distinct regions have too many runs or it takes too long.
  bool list_places(std::size_t pools, std::span<Shape> shapes);

  const std::vector<ByteRange>& ranges() const { return ranges_; }

 private:
  static constexpr std::uint32_t kStrided = 0xFFFFFFFFU;  ///< As end: begin is the number.
  struct Hash {
    std::size_t operator()(const Region& region) const { return region.hash(); }
  };

  static bool is_strided(const Shape& shape) { return shape.end == kStrided; }
  std::span<const ByteRange> runs_of(std::uint32_t strided) const {
    const std::size_t begin = strided == 0 ? 0 : end_[strided - 1];
    return std::span(runs_).subspan(begin, end_[strided] - begin);
  }
  void append(Shape& shape, std::span<const ByteRange> ranges);
  std::optional<std::vector<Gathering>> gather(std::size_t pools,
                                               std::span<const Shape> shapes) const;

  std::size_t max_runs_;
  bool too_many_ = false;
  std::vector<ByteRange> ranges_;  ///< Before they are listed: of contiguous shapes.

  // Of the distinct strided regions, by number.
  std::unordered_map<Region, std::uint32_t, Hash> strided_;
  std::vector<PoolId> pool_;
  std::vector<std::size_t> end_;  ///< In `runs_`.
  std::vector<ByteRange> runs_;
};

}  // namespace memverify
