// Whether and where regions share bytes. Idea and costs: plan/strided_box.h. A clipped region is
// first cut into whole boxes, at most 2d + 1 when its rows do not overlap.
#include <algorithm>
#include <cassert>
#include <limits>

#include "plan/region.h"
#include "plan/strided_box.h"

namespace memverify {
namespace {

ByteRange intersection(ByteRange a, ByteRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Boxes whose union is the region's bytes.
std::vector<StridedBox> boxes_of(const Region& region) {
  StridedBox box = box_of(region);
  const ByteRange hull = region.hull();
  if (box.base == hull.begin && box.end() == hull.end) return {std::move(box)};
  return box.pieces(hull.begin, hull.end);
}

}  // namespace

bool Region::overlaps(const Region& other) const {
  if (pool_ != other.pool_ || intersection(hull_, other.hull_).empty()) return false;
  if (is_contiguous() && other.is_contiguous()) return true;
  if (!is_clipped() && !other.is_clipped()) return share_byte(box_of(*this), box_of(other));
  const std::vector<StridedBox> its = boxes_of(other);
  return std::ranges::any_of(boxes_of(*this), [&](const StridedBox& mine) {
    return std::ranges::any_of(its, [&](const StridedBox& b) { return share_byte(mine, b); });
  });
}

ByteRange Region::first_overlap(const Region& other) const {
  if (!overlaps(other)) return {};
  const ByteRange both = intersection(hull_, other.hull_);
  if (is_contiguous() && other.is_contiguous()) return both;

  // Bisect for the lowest common byte: none lies below `low`, one lies below `high`. This costs 64
  // queries at most, however many runs there are to walk.
  Int128 low = both.begin;
  Int128 high = both.end;
  while (high - low > 1) {
    const auto middle = static_cast<std::int64_t>(low + (high - low) / 2);
    (clipped({both.begin, middle}).overlaps(other) ? high : low) = middle;
  }
  const Int128 end = box_of(other).run_end(low, both.end);
  return {static_cast<std::int64_t>(low),
          static_cast<std::int64_t>(
              std::min<Int128>(box_of(*this).run_end(low, end), std::min<Int128>(end, both.end)))};
}

bool self_overlaps(std::int64_t run, std::span<const Dim> dims) {
  if (run <= 0) return false;
  if (std::ranges::any_of(dims, [](const Dim& dim) { return dim.count == 0; })) return false;
  std::vector<StridedBox::BoxDim> steps;
  for (const Dim& dim : dims) {
    assert(dim.count >= 0);
    if (dim.count == 1) continue;
    if (dim.stride == 0) return true;
    const Int128 stride = dim.stride < 0 ? -Int128{dim.stride} : Int128{dim.stride};
    steps.push_back({dim.count, stride, 0, 0});
  }
  std::ranges::sort(steps, std::ranges::greater(), &StridedBox::BoxDim::stride);

  // Two elements share a byte iff the difference of their indices, a vector d != 0 with |d_k| <
  // count_k, gives |sum(d_k * stride_k)| < run. Largest stride first; by symmetry the first d_k
  // that is not 0 is positive, and nothing is left to check for dim k when it steps over all
  // smaller ones.
  for (std::size_t k = 0; k < steps.size(); ++k) {
    StridedBox sums;
    sums.run = 2 * Int128{run} - 1;
    sums.dims.push_back({steps[k].count - 1, steps[k].stride, 0, 0});
    Int128 least = steps[k].stride;
    for (std::size_t j = k + 1; j < steps.size(); ++j) {
      sums.dims.push_back({2 * steps[j].count - 1, steps[j].stride, 0, 0});
      least -= steps[j].stride * (steps[j].count - 1);
    }
    if (least >= run) continue;
    sums.base = least;
    sums.normalise();
    if (sums.contains(Int128{run} - 1)) return true;
  }
  return false;
}

}  // namespace memverify
