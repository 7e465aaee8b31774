#include "verify/footprint_cut.h"

#include <future>
#include <utility>

#include "plan/beside.h"

namespace memverify {

void FootprintCutter::cut() {
  result_.runs_.resize(ranges_.size());
  // Each fills members of its own.
  auto pools_cut = std::async(beside(ranges_.size()), [this] { cut_pools(); });
  cut_families();
  pools_cut.get();
}

void FootprintCutter::cut_pools() {
  const std::size_t pools = result_.program_->plan->pools.size();
  std::vector<std::vector<std::int64_t>> ends(pools);
  std::vector<std::size_t> count(pools, 0);
  for (const Shape& shape : result_.shapes_) count[index(shape.pool)] += shape.end - shape.begin;
  for (std::size_t pool = 0; pool < pools; ++pool) ends[pool].reserve(2 * count[pool]);
  for (const Shape& shape : result_.shapes_) {
    for (std::uint32_t k = shape.begin; k < shape.end; ++k) {
      ends[index(shape.pool)].push_back(ranges_[k].begin);
      ends[index(shape.pool)].push_back(ranges_[k].end);
    }
  }
  std::vector<EndPoints> points;     // By PoolId.
  std::vector<std::uint32_t> first;  // By PoolId, in addresses_.
  points.reserve(ends.size());
  for (auto& pool : ends) {
    points.emplace_back(std::move(pool));
    const auto& sorted = points.back().sorted();
    first.push_back(static_cast<std::uint32_t>(result_.addresses_.size()));
    result_.addresses_.insert(result_.addresses_.end(), sorted.begin(), sorted.end());
  }
  for (const Shape& shape : result_.shapes_) {
    const EndPoints& numbers = points[index(shape.pool)];
    const std::uint32_t base = first[index(shape.pool)];
    for (std::uint32_t k = shape.begin; k < shape.end; ++k) {
      result_.runs_[k].begin = base + numbers.number(ranges_[k].begin);
      result_.runs_[k].end = base + numbers.number(ranges_[k].end);
    }
  }
}

/// The same for each family. Most have one range.
void FootprintCutter::cut_families() {
  for (std::size_t shape = 0; shape < root_.size(); ++shape) {
    if (root_[shape] == kNone<TensorId>) continue;
    const Shape& s = result_.shapes_[shape];
    result_.families_[index(root_[shape])].points += s.end - s.begin;
  }
  std::vector<std::uint32_t> others;
  for (std::uint32_t shape = 0; shape < root_.size(); ++shape) {
    const Shape& s = result_.shapes_[shape];
    if (root_[shape] == kNone<TensorId> || s.begin == s.end) continue;
    if (result_.families_[index(root_[shape])].points == 1) {
      result_.runs_[s.begin].family_begin = 0;
      result_.runs_[s.begin].family_end = 1;
    } else {
      others.push_back(shape);
    }
  }
  cut_families_of(others);
}

/// The families of `shapes`, each of which has several ranges.
void FootprintCutter::cut_families_of(std::span<const std::uint32_t> shapes) {
  // Those of a family as a list, whose head is where the place of its addresses will be.
  std::vector<std::uint32_t> next(shapes.size(), kNoShape);
  const auto head = [&](std::uint32_t shape) -> std::uint32_t& {
    return result_.families_[index(root_[shape])].first_address;
  };
  for (std::uint32_t shape : shapes) head(shape) = kNoShape;
  for (std::uint32_t k = 0; k < shapes.size(); ++k) {
    next[k] = std::exchange(head(shapes[k]), k);
  }
  std::vector<std::uint32_t> family;
  for (std::uint32_t k = 0; k < shapes.size(); ++k) {
    if (next[k] != kNoShape) continue;  // Not the first of its family.
    family.clear();
    for (std::uint32_t at = head(shapes[k]); at != kNoShape; at = next[at]) {
      family.push_back(shapes[at]);
    }
    cut_family(root_[shapes[k]], family);
  }
}

void FootprintCutter::cut_family(TensorId root, std::span<const std::uint32_t> shapes) {
  ends_.clear();
  for_each_range(shapes, [&](std::uint32_t, std::int64_t begin, std::int64_t end) {
    ends_.push_back(begin);
    ends_.push_back(end);
  });
  points_.assign(ends_);
  for_each_range(shapes, [&](std::uint32_t k, std::int64_t begin, std::int64_t end) {
    result_.runs_[k].family_begin = points_.number(begin);
    result_.runs_[k].family_end = points_.number(end);
  });
  Family& f = result_.families_[index(root)];
  f.points = static_cast<std::uint32_t>(points_.sorted().size()) - 1;
  if (f.points == 1) return;
  f.first_address = static_cast<std::uint32_t>(result_.family_addresses_.size());
  result_.family_addresses_.insert(result_.family_addresses_.end(), points_.sorted().begin(),
                                   points_.sorted().end());
}

}  // namespace memverify
