#include "verify/shape_ranges.h"

#include <utility>

namespace memverify {

ShapeRanges::Shape ShapeRanges::add(const Region& region) {
  if (region.is_contiguous() || too_many_) return add(region.pool(), region.hull());
  const auto next = static_cast<std::uint32_t>(pool_.size());
  const auto [at, is_new] = strided_.try_emplace(region, next);
  if (!is_new) return {region.pool(), at->second, kStrided};
  const auto left = static_cast<std::int64_t>(max_runs_ - runs_.size());
  if (region.count_runs(left + 1) > left) {
    too_many_ = true;
    return add(region.pool(), region.hull());
  }
  for (const ByteRange& run : region.runs()) runs_.push_back(run);
  end_.push_back(runs_.size());
  pool_.push_back(region.pool());
  return {region.pool(), next, kStrided};
}

void ShapeRanges::append(Shape& shape, std::span<const ByteRange> ranges) {
  shape.begin = static_cast<std::uint32_t>(ranges_.size());
  ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
  shape.end = static_cast<std::uint32_t>(ranges_.size());
}

bool ShapeRanges::list_runs(std::span<Shape> shapes) {
  if (too_many_) return false;
  if (!has_strided()) return true;
  for (Shape& shape : shapes) {
    if (!is_strided(shape)) continue;
    const auto runs = runs_of(shape.begin);
    if (ranges_.size() + runs.size() > max_runs_) return false;
    append(shape, runs);
  }
  return true;
}

std::optional<std::vector<Gathering>> ShapeRanges::gather(std::size_t pools,
                                                          std::span<const Shape> shapes) const {
  std::vector<std::vector<ByteRange>> contiguous(pools);
  std::vector<std::vector<std::span<const ByteRange>>> strided(pools);
  for (const Shape& shape : shapes) {
    if (!is_strided(shape) && shape.begin < shape.end)
      contiguous[index(shape.pool)].push_back(ranges_[shape.begin]);
  }
  for (std::uint32_t k = 0; k < pool_.size(); ++k) strided[index(pool_[k])].push_back(runs_of(k));
  std::vector<Gathering> result;
  for (std::size_t pool = 0; pool < pools; ++pool) {
    auto gathering = Gathering::make(contiguous[pool], strided[pool]);
    if (!gathering) return std::nullopt;
    result.push_back(*std::move(gathering));
  }
  return result;
}

bool ShapeRanges::list_places(std::size_t pools, std::span<Shape> shapes) {
  if (too_many_) return false;
  auto gathered = gather(pools, shapes);
  if (!gathered) return false;
  std::vector<std::vector<ByteRange>> places;  // By number of a strided region.
  for (std::uint32_t k = 0; k < pool_.size(); ++k) {
    places.push_back((*gathered)[index(pool_[k])].of_strided(runs_of(k)));
  }
  for (Shape& shape : shapes) {
    if (is_strided(shape)) {
      append(shape, places[shape.begin]);
    } else if (shape.begin < shape.end) {
      ByteRange& range = ranges_[shape.begin];
      range = (*gathered)[index(shape.pool)].of_contiguous(range);
    }
  }
  return true;
}

}  // namespace memverify
