#include "verify/shape_ranges.h"

#include <utility>

namespace memverify {

void ShapeRanges::add(const Region& region) {
  regions_.push_back(
      {region.hull(), region.is_contiguous() ? kContiguous : strided_number(region)});
}

std::uint32_t ShapeRanges::strided_number(const Region& region) {
  if (too_many_) return kContiguous;
  const auto next = static_cast<std::uint32_t>(pool_.size());
  const auto [at, is_new] = strided_.try_emplace(region, next);
  if (!is_new) return at->second;
  const auto left = static_cast<std::int64_t>(max_runs_ - runs_.size());
  if (region.count_runs(left + 1) > left) {
    too_many_ = true;
    return kContiguous;
  }
  for (const ByteRange& run : region.runs()) runs_.push_back(run);
  end_.push_back(runs_.size());
  pool_.push_back(region.pool());
  return next;
}

bool ShapeRanges::list_runs(std::span<Footprints::Shape> shapes) {
  if (too_many_) return false;
  ranges_.reserve(shapes.size());
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const Entry& entry = regions_[k];
    shapes[k].begin = static_cast<std::uint32_t>(ranges_.size());
    if (entry.strided != kContiguous) {
      const auto runs = runs_of(entry.strided);
      if (ranges_.size() + runs.size() > max_runs_) return false;
      ranges_.insert(ranges_.end(), runs.begin(), runs.end());
    } else if (!entry.hull.empty()) {
      ranges_.push_back(entry.hull);
    }
    shapes[k].end = static_cast<std::uint32_t>(ranges_.size());
  }
  return true;
}

std::optional<std::vector<Gathering>> ShapeRanges::gather(
    std::size_t pools, std::span<const Footprints::Shape> shapes) const {
  std::vector<std::vector<ByteRange>> contiguous(pools);
  std::vector<std::vector<std::span<const ByteRange>>> strided(pools);
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    if (regions_[k].strided == kContiguous && !regions_[k].hull.empty())
      contiguous[index(shapes[k].pool)].push_back(regions_[k].hull);
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

bool ShapeRanges::list_places(std::size_t pools, std::span<Footprints::Shape> shapes) {
  if (too_many_) return false;
  auto gathered = gather(pools, shapes);
  if (!gathered) return false;
  std::vector<std::vector<ByteRange>> places;  // By number of a strided region.
  for (std::uint32_t k = 0; k < pool_.size(); ++k) {
    places.push_back((*gathered)[index(pool_[k])].of_strided(runs_of(k)));
  }
  ranges_.reserve(shapes.size());
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const Entry& entry = regions_[k];
    shapes[k].begin = static_cast<std::uint32_t>(ranges_.size());
    if (entry.strided != kContiguous) {
      const auto& ranges = places[entry.strided];
      ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
    } else if (!entry.hull.empty()) {
      ranges_.push_back((*gathered)[index(shapes[k].pool)].of_contiguous(entry.hull));
    }
    shapes[k].end = static_cast<std::uint32_t>(ranges_.size());
  }
  return true;
}

}  // namespace memverify
