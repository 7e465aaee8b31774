// verify/footprint_cut.h -- where the bytes of shapes are cut into points; private to
// verify/footprint.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/region.h"
#include "verify/end_points.h"
#include "verify/footprint.h"

namespace memverify {

/// Fills the runs, the addresses and the points of families, whose shapes are there already.
class FootprintCutter {
 public:
  /// `ranges`: of the shapes. `slot_address` and `root`: by shape; kNone of bytes without a family.
  FootprintCutter(Footprints& result, std::span<const ByteRange> ranges,
                  std::span<const std::int64_t> slot_address, std::span<const TensorId> root)
      : result_(result), ranges_(ranges), slot_address_(slot_address), root_(root) {}
  void cut();

 private:
  using Shape = Footprints::Shape;
  using Family = Footprints::Family;
  static constexpr std::uint32_t kNoShape = 0xFFFFFFFFU;

  void cut_pools();
  void cut_families();
  void cut_families_of(std::span<const std::uint32_t> shapes);
  void cut_family(TensorId root, std::span<const std::uint32_t> shapes);

  /// Calls visit(k, begin, end) for range k of the shapes, its bytes counted from the slot.
  template <typename Visit>
  void for_each_range(std::span<const std::uint32_t> shapes, Visit&& visit) const {
    for (std::uint32_t shape : shapes) {
      for (std::uint32_t k = result_.shapes_[shape].begin; k < result_.shapes_[shape].end; ++k) {
        visit(k, ranges_[k].begin - slot_address_[shape], ranges_[k].end - slot_address_[shape]);
      }
    }
  }

  Footprints& result_;
  std::span<const ByteRange> ranges_;
  std::span<const std::int64_t> slot_address_;
  std::span<const TensorId> root_;
  std::vector<std::int64_t> ends_;  ///< Of the family at hand,
  EndPoints points_;                ///< and where it is cut.
};

}  // namespace memverify
