// Which regions of a pool meet, and whether some cover another.
//
// Contiguous regions, and strided ones of fixed shape run by run: by the order of their ends.
// Strided ones of symbolic shape: when any two regions of a cluster are apart, the same, or one
// inside the other, then which sets of regions have a byte of their own follows from that and from
// whether the sizes of those inside add up to the size of the one around. Two boxes with the same
// outermost stride, or one and a contiguous region, are compared within one period of it. Where
// none of that holds, the shapes are fixed.
#include <algorithm>

#include "verify/symbol_alike_maker.h"

namespace memverify {
namespace {

constexpr std::size_t kMostNested = 300;  ///< Regions of a cluster that are compared pairwise.

}  // namespace

void AlikeMaker::add_placed(PoolId pool, Poly low, Poly high, const SymbolicBox* box) {
  const auto dims = box == nullptr ? std::vector<SymbolicBox::SymbolicDim>() : box->dims;
  if (!seen_.emplace(pool, low, high, box == nullptr ? Poly() : box->run, dims).second) return;
  Placed placed{std::move(low), std::move(high), box};
  placed.at_low = value(placed.low);
  placed.at_high = value(placed.high);
  placed_[index(pool)].push_back(std::move(placed));
}

void AlikeMaker::add_region(TensorId tensor, const SymbolicBox& box) {
  if (box.empty) return;
  const PoolId pool = plan_.storages[plan_.tensors[tensor].storage].pool;
  for (const Expr slot : slots_of(tensor)) {
    const Poly base = plus(s_.poly(slot), box.low);
    if (box.runs.empty()) {
      add_placed(pool, base, plus(s_.poly(slot), box.high),
                 box.dims.empty() ? nullptr : &boxes_[index(tensor)]);
      continue;
    }
    for (const ByteRange run : box.runs) {
      add_placed(pool, plus(base, Polys::number(run.begin)), plus(base, Polys::number(run.end)),
                 nullptr);
    }
  }
}

void AlikeMaker::add_pool(std::vector<Placed> placed) {
  std::ranges::sort(placed, {}, [](const Placed& p) { return std::pair(p.at_low, p.at_high); });
  const Poly* before = nullptr;  // The greatest end of the cluster before.
  for (std::size_t begin = 0; begin < placed.size();) {
    std::size_t greatest = begin;
    std::size_t end = begin + 1;
    for (; end < placed.size() && placed[end].at_low < placed[greatest].at_high; ++end) {
      if (placed[end].at_high > placed[greatest].at_high) greatest = end;
    }
    add_cluster(std::span(placed).subspan(begin, end - begin));
    if (before != nullptr) fix_at_most(*before, placed[begin].low);
    before = &placed[greatest].high;
    begin = end;
  }
}

void AlikeMaker::add_cluster(std::span<const Placed> cluster) {
  if (cluster.size() == 1 || failed_) return;  // Not empty, and alone.
  if (std::ranges::all_of(cluster, [](const Placed& p) { return p.box == nullptr; })) {
    return add_points(cluster);
  }
  // That the hulls go on from the least to the greatest end must hold however the rest is fixed.
  for (const Placed& p : cluster) {
    fix_at_most(cluster.front().low, p.low);
    fix_at_most(p.high, std::ranges::max_element(cluster, {}, &Placed::at_high)->high);
  }
  const std::size_t formulas = formulas_.size();
  if (add_nested(cluster)) return;
  formulas_.resize(formulas);
  std::vector<Placed> runs = by_runs(cluster);
  if (!failed_) add_pool(std::move(runs));
}

/// Fixes the order of all end points.
void AlikeMaker::add_points(std::span<const Placed> cluster) {
  std::vector<std::pair<Wide, const Poly*>> points;
  for (const Placed& placed : cluster) {
    points.emplace_back(placed.at_low, &placed.low);
    points.emplace_back(placed.at_high, &placed.high);
  }
  std::ranges::sort(points, {},
                    [](const auto& point) { return std::tie(point.first, *point.second); });
  for (std::size_t k = 1; k < points.size(); ++k) {
    if (*points[k].second == *points[k - 1].second) continue;
    fix_order(*points[k - 1].second, *points[k].second);
  }
}

/// False if some two regions are neither apart nor the same nor one inside the other, as far as can
/// be seen here.
bool AlikeMaker::add_nested(std::span<const Placed> cluster) {
  const std::size_t n = cluster.size();
  if (n > kMostNested) return false;
  std::vector<std::vector<std::size_t>> inside(n);  // Of each region.
  std::vector<std::uint8_t> repeated(n, 0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n && repeated[a] == 0; ++b) {
      if (repeated[b] != 0) continue;
      switch (fix_relation(cluster[a], cluster[b])) {
        case Relation::kApart:
          break;
        case Relation::kSame:
          repeated[b] = 1;
          break;
        case Relation::kInside:
          inside[b].push_back(a);
          break;
        case Relation::kAround:
          inside[a].push_back(b);
          break;
        case Relation::kOther:
          return false;
      }
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    if (repeated[a] != 0) continue;
    Poly covered;
    for (const std::size_t b : inside[a]) {
      const bool direct = repeated[b] == 0 && std::ranges::none_of(inside[a], [&](std::size_t c) {
                            return std::ranges::find(inside[c], b) != inside[c].end();
                          });
      if (direct) covered = plus(covered, size(cluster[b]));
    }
    if (!inside[a].empty()) fix_order(covered, size(cluster[a]));
  }
  return true;
}

/// The runs of all, with the shapes of the strided ones fixed.
std::vector<AlikeMaker::Placed> AlikeMaker::by_runs(std::span<const Placed> cluster) {
  std::vector<Placed> result;
  for (const Placed& placed : cluster) {
    if (placed.box == nullptr) {
      result.push_back(placed);
      continue;
    }
    SymbolicBox fixed;
    fix_shape(static_cast<TensorId>(placed.box - boxes_.data()), fixed);
    for (const ByteRange run : fixed.runs) {
      Placed part{plus(placed.low, Polys::number(run.begin)),
                  plus(placed.low, Polys::number(run.end))};
      part.at_low = placed.at_low + run.begin;
      part.at_high = placed.at_low + run.end;
      result.push_back(std::move(part));
    }
  }
  return result;
}

AlikeMaker::Relation AlikeMaker::fix_relation(const Placed& a, const Placed& b) {
  for (const auto& [first, second] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (first->at_high <= second->at_low) {
      fix_at_most(first->high, second->low);
      return Relation::kApart;
    }
  }
  if (fix_same(a, b)) return Relation::kSame;
  if (fix_inside(a, b)) return Relation::kInside;
  if (fix_inside(b, a)) return Relation::kAround;
  return a.box != nullptr || b.box != nullptr ? fix_in_period(a, b) : Relation::kOther;
}

bool AlikeMaker::fix_same(const Placed& a, const Placed& b) {
  if (a.at_low != b.at_low || a.at_high != b.at_high) return false;
  if ((a.box == nullptr) != (b.box == nullptr)) return false;
  std::vector<std::pair<const Poly*, const Poly*>> equal{{&a.low, &b.low}, {&a.high, &b.high}};
  if (a.box != nullptr) {
    if (a.box->dims.size() != b.box->dims.size()) return false;
    equal.emplace_back(&a.box->run, &b.box->run);
    for (std::size_t k = 0; k < a.box->dims.size(); ++k) {
      equal.emplace_back(&a.box->dims[k].count, &b.box->dims[k].count);
      equal.emplace_back(&a.box->dims[k].stride, &b.box->dims[k].stride);
    }
  }
  if (std::ranges::any_of(equal,
                          [&](const auto& p) { return value(*p.first) != value(*p.second); })) {
    return false;
  }
  for (const auto& [x, y] : equal) fix_order(*x, *y);
  return true;
}

/// Within a contiguous region.
bool AlikeMaker::fix_inside(const Placed& inner, const Placed& outer) {
  if (outer.box != nullptr || inner.at_low < outer.at_low || inner.at_high > outer.at_high) {
    return false;
  }
  fix_at_most(outer.low, inner.low);
  fix_at_most(inner.high, outer.high);
  return true;
}

/// What a region spans within one step of its outermost dim; all of it if it has none.
Poly AlikeMaker::width(const Placed& placed) {
  if (placed.box == nullptr) return minus(placed.high, placed.low);
  const SymbolicBox::SymbolicDim& outer = placed.box->dims.front();
  return minus(minus(placed.high, placed.low),
               polys_.multiply(outer.stride, minus(outer.count, Polys::number(1))));
}

Poly AlikeMaker::size(const Placed& placed) {
  if (placed.box == nullptr) return minus(placed.high, placed.low);
  Poly bytes = placed.box->run;
  for (const auto& dim : placed.box->dims) bytes = polys_.multiply(bytes, dim.count);
  return bytes;
}

/// One of the two is a box with dims; the other one has the same outermost stride, or is
/// contiguous.
AlikeMaker::Relation AlikeMaker::fix_in_period(const Placed& a, const Placed& b) {
  const Poly& stride = (a.box != nullptr ? a : b).box->dims.front().stride;
  if (a.box != nullptr && b.box != nullptr) {
    if (value(stride) != value(b.box->dims.front().stride)) return Relation::kOther;
    fix_order(stride, b.box->dims.front().stride);
  }
  const auto count = [](const Placed& p) {
    return p.box == nullptr ? Polys::number(1) : p.box->dims.front().count;
  };
  const auto is_solid = [](const Placed& p) { return p.box != nullptr && p.box->dims.size() == 1; };
  for (const bool swapped : {false, true}) {
    const Placed& x = swapped ? b : a;
    const Placed& y = swapped ? a : b;
    // y begins `steps` strides and `rest` bytes behind x, 0 <= rest < stride.
    const Poly distance = minus(y.low, x.low);
    const bool constant = Polys::constant(stride).has_value();
    const Poly steps = constant ? polys_.divide(distance, stride)
                                : Polys::number(floor_div(value(distance), value(stride)));
    const Poly rest = minus(distance, polys_.multiply(steps, stride));
    const Poly end = plus(rest, width(y));
    if (value(width(x)) <= value(rest) && value(end) <= value(stride)) {
      fix_at_most(width(x), rest);
      fix_at_most(end, stride);
      return Relation::kApart;
    }
    const Poly last = plus(steps, count(y));
    if (is_solid(x) && value(end) <= value(width(x)) && value(steps) >= 0 &&
        value(last) <= value(count(x))) {
      fix_at_most({}, rest);
      fix_at_most(end, width(x));
      fix_at_most({}, steps);
      fix_at_most(last, count(x));
      return swapped ? Relation::kInside : Relation::kAround;
    }
  }
  return Relation::kOther;
}

}  // namespace memverify
