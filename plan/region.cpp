#include "plan/region.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "plan/strided_box.h"

namespace memverify {
namespace {

constexpr std::int64_t kReserved = 1'000'000;  ///< Runs, at most, that memory is set aside for.
constexpr Int128 kMinCoordinate = std::numeric_limits<std::int64_t>::min();
constexpr Int128 kMaxCoordinate = std::numeric_limits<std::int64_t>::max();

bool fits(Int128 value) { return kMinCoordinate <= value && value <= kMaxCoordinate; }

std::int64_t narrow(Int128 value) {
  assert(fits(value));
  return static_cast<std::int64_t>(value);
}

/// Visits the maximal runs of a box within `hull` in ascending order, one at a time.
class RunCursor {
 public:
  explicit RunCursor(const Region& region) : box_(box_of(region)), hull_(region.hull()) {
    start(hull_.begin);
  }
  bool done() const { return run_.empty(); }
  ByteRange run() const { return run_; }
  void next() {
    if (run_.end == hull_.end) {
      run_ = {};
      return;
    }
    const auto from = box_.first_start(Int128{run_.end});
    start(narrow(*from));
  }

 private:
  void start(std::int64_t begin) {
    const Int128 end = box_.run_end(begin, hull_.end);
    run_ = {begin, narrow(std::min<Int128>(end, hull_.end))};
  }

  StridedBox box_;
  ByteRange hull_;
  ByteRange run_;
};

/// The runs of a nested box: one for each index vector, in order.
void add_nested_runs(std::span<const Dim> dims, std::int64_t base, std::int64_t run,
                     std::vector<ByteRange>& runs) {
  if (dims.empty()) {
    runs.push_back({base, base + run});
    return;
  }
  for (std::int64_t i = 0; i < dims[0].count; ++i) {
    add_nested_runs(dims.subspan(1), base + i * dims[0].stride, run, runs);
  }
}

}  // namespace

StridedBox box_of(const Region& region) {
  StridedBox box{region.base_, region.run_, {}};
  box.dims.reserve(region.dims_.size());
  for (const Dim& dim : region.dims_) box.dims.push_back({dim.count, dim.stride, 0, 0});
  box.normalise();
  return box;
}

Region Region::from_box(PoolId pool, const StridedBox& box) {
  Region region;
  region.pool_ = pool;
  region.base_ = narrow(box.base);
  region.run_ = narrow(box.run);
  region.hull_ = {region.base_, narrow(box.end())};
  region.dims_.reserve(box.dims.size());
  for (const StridedBox::BoxDim& dim : box.dims) {
    region.dims_.push_back({narrow(dim.count), narrow(dim.stride)});
  }
  return region;
}

std::int64_t Region::box_end() const noexcept {
  Int128 end = Int128{base_} + run_;
  for (const Dim& dim : dims_) end += Int128{dim.stride} * (dim.count - 1);
  return narrow(end);
}

Region Region::contiguous(PoolId pool, std::int64_t begin, std::int64_t bytes) {
  assert(bytes >= 0 && fits(Int128{begin} + bytes));
  Region region;
  region.pool_ = pool;
  if (bytes == 0) return region;
  region.base_ = begin;
  region.run_ = bytes;
  region.hull_ = {begin, begin + bytes};
  return region;
}

std::optional<Region> Region::strided(PoolId pool, std::int64_t base, std::int64_t run,
                                      std::span<const Dim> dims) {
  assert(run >= 0);
  Region nothing;
  nothing.pool_ = pool;
  if (run == 0 || std::ranges::any_of(dims, [](const Dim& dim) { return dim.count == 0; })) {
    return nothing;
  }
  Int128 begin = base;
  Int128 end = Int128{base} + run;
  StridedBox box{base, run, {}};
  for (const Dim& dim : dims) {
    assert(dim.count >= 0);
    const Int128 extent = Int128{dim.stride} * (dim.count - 1);
    (extent < 0 ? begin : end) += extent;
    if (!fits(begin) || !fits(end)) return std::nullopt;
    box.dims.push_back({dim.count, dim.stride, 0, 0});
  }
  if (!fits(end)) return std::nullopt;
  box.normalise();
  for (const StridedBox::BoxDim& dim : box.dims) {
    if (!fits(dim.count) || !fits(dim.stride)) return std::nullopt;
  }
  return from_box(pool, box);
}

Region Region::clipped(ByteRange window) const {
  const ByteRange kept{std::max(hull_.begin, window.begin), std::min(hull_.end, window.end)};
  if (kept == hull_) return *this;
  if (kept.empty()) return contiguous(pool_, 0, 0);
  if (is_contiguous()) return contiguous(pool_, kept.begin, kept.end - kept.begin);

  const std::vector<StridedBox> pieces = box_of(*this).pieces(kept.begin, kept.end);
  if (pieces.empty()) return contiguous(pool_, 0, 0);
  if (pieces.size() == 1) return from_box(pool_, pieces[0]);
  Region region = *this;
  region.hull_ = {narrow(std::ranges::min_element(pieces, {}, &StridedBox::base)->base),
                  narrow(std::ranges::max_element(pieces, {}, &StridedBox::end)->end())};
  return region;
}

std::optional<Region> Region::shifted(std::int64_t offset) const {
  if (empty()) return *this;
  if (!fits(Int128{base_} + offset) || !fits(Int128{box_end()} + offset)) return std::nullopt;
  Region region = *this;
  region.base_ += offset;
  region.hull_ = {hull_.begin + offset, hull_.end + offset};
  return region;
}

bool Region::same_bytes(const Region& other) const {
  if (hull_ != other.hull_) return false;
  if (empty()) return true;
  if (pool_ != other.pool_) return false;
  if (base_ == other.base_ && run_ == other.run_ && dims_ == other.dims_) return true;
  if (!is_clipped() && !other.is_clipped() && box_of(*this).is_nested() &&
      box_of(other).is_nested()) {
    return false;
  }
  RunCursor mine(*this);
  RunCursor its(other);
  while (!mine.done() && mine.run() == its.run()) {
    mine.next();
    its.next();
  }
  return mine.done() && its.done();
}

std::size_t Region::hash() const noexcept {
  std::uint64_t hash = index(pool_);
  const auto add = [&](std::int64_t number) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  };
  for (const std::int64_t number : {base_, run_, hull_.begin, hull_.end}) add(number);
  for (const Dim& dim : dims_) {
    add(dim.count);
    add(dim.stride);
  }
  return static_cast<std::size_t>(hash);
}

std::int64_t Region::count_runs(std::int64_t limit) const {
  if (empty() || limit <= 0) return 0;
  if (is_contiguous()) return 1;
  if (!is_clipped() && box_of(*this).is_nested()) {
    Int128 runs = 1;
    for (const Dim& dim : dims_) runs = std::min<Int128>(runs * dim.count, limit);
    return narrow(runs);
  }
  std::int64_t runs = 0;
  for (RunCursor cursor(*this); !cursor.done() && runs < limit; cursor.next()) ++runs;
  return runs;
}

std::vector<ByteRange> Region::runs() const {
  if (empty()) return {};
  if (is_contiguous()) return {hull_};
  std::vector<ByteRange> result;
  if (!is_clipped() && box_of(*this).is_nested()) {
    result.reserve(static_cast<std::size_t>(count_runs(kReserved)));
    add_nested_runs(dims_, base_, run_, result);
    return result;
  }
  for (RunCursor cursor(*this); !cursor.done(); cursor.next()) result.push_back(cursor.run());
  return result;
}

}  // namespace memverify
