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
  /// At most `max_runs` are listed because of strided regions.
  explicit ShapeRanges(std::size_t max_runs) : max_runs_(max_runs) {}
  void reserve(std::size_t shapes) { regions_.reserve(shapes); }

  /// Adds the region of the next shape.
  void add(const Region& region);
  /// The same for contiguous bytes.
  void add(ByteRange bytes) { regions_.push_back({bytes, kContiguous}); }
  bool has_strided() const { return !pool_.empty(); }
  /// The runs of a shape; of a contiguous one 1, even if it is empty.
  std::size_t runs(std::uint32_t shape) const {
    const std::uint32_t strided = regions_[shape].strided;
    return strided == kContiguous ? 1 : runs_of(strided).size();
  }

  // When all are added, one of these fills `ranges()`, and says where in there each shape's are.

  /// Runs; false if there are too many.
  bool list_runs(std::span<Footprints::Shape> shapes);
  /// Places, of `pools` pools; false if distinct regions have too many runs or it takes too long.
  bool list_places(std::size_t pools, std::span<Footprints::Shape> shapes);

  const std::vector<ByteRange>& ranges() const { return ranges_; }

 private:
  static constexpr std::uint32_t kContiguous = 0xFFFFFFFFU;
  struct Entry {
    ByteRange hull;
    std::uint32_t strided;  ///< Its number among the distinct strided ones.
  };
  struct Hash {
    std::size_t operator()(const Region& region) const { return region.hash(); }
  };

  std::uint32_t strided_number(const Region& region);
  std::span<const ByteRange> runs_of(std::uint32_t strided) const {
    const std::size_t begin = strided == 0 ? 0 : end_[strided - 1];
    return std::span(runs_).subspan(begin, end_[strided] - begin);
  }
  std::optional<std::vector<Gathering>> gather(std::size_t pools,
                                               std::span<const Footprints::Shape> shapes) const;

  std::size_t max_runs_;
  bool too_many_ = false;
  std::vector<Entry> regions_;  ///< By shape.
  std::vector<ByteRange> ranges_;

  std::unordered_map<Region, std::uint32_t, Hash> strided_;
  std::vector<PoolId> pool_;      ///< By number of a strided region.
  std::vector<std::size_t> end_;  ///< In `runs_`, by number.
  std::vector<ByteRange> runs_;
};

}  // namespace memverify
