#include "plan/strided_box.h"

#include <algorithm>
#include <cassert>
#include <span>

namespace memverify {
namespace {

using BoxDim = StridedBox::BoxDim;

Int128 floor_div(Int128 a, Int128 b) {
  assert(b > 0);
  const Int128 quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

Int128 ceil_div(Int128 a, Int128 b) { return -floor_div(-a, b); }

Int128 floor_mod(Int128 a, Int128 b) { return a - floor_div(a, b) * b; }

Int128 gcd(Int128 a, Int128 b) {
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// The least t >= 0 with `low <= a * t mod m <= high`, for 0 <= a < m and 0 <= low <= high < m.
/// O(log m).
std::optional<Int128> first_multiple_in(Int128 a, Int128 m, Int128 low, Int128 high) {
  if (low == 0) return 0;
  if (a == 0) return std::nullopt;
  const Int128 direct = ceil_div(low, a);
  if (direct * a <= high) return direct;
  // No multiple of a lies in [low, high], so a*t - m*y does iff m*y mod a lies in the mirrored
  // interval, which does not wrap; the least y gives the least t.
  const std::optional<Int128> y =
      first_multiple_in(m % a, a, floor_mod(-high, a), floor_mod(-low, a));
  if (!y) return std::nullopt;
  return ceil_div(low + m * *y, a);
}

/// The least x >= `from` such that a multiple of `modulus` lies in [low - stride*x, high -
/// stride*x].
std::optional<Int128> next_candidate(Int128 stride, Int128 modulus, Int128 low, Int128 high,
                                     Int128 from) {
  const Int128 width = high - low;
  const Int128 rest = floor_mod(high - stride * from, modulus);
  if (rest <= width) return from;
  // (rest - stride * t) mod modulus in [0, width], and rest > width: no wrap below.
  const std::optional<Int128> t = first_multiple_in(floor_mod(-stride, modulus), modulus,
                                                    modulus - rest, modulus - rest + width);
  if (!t) return std::nullopt;
  return from + *t;
}

/// True iff some sum of `dims` (0 <= x_k < count_k of each stride_k) lies in [low, high].
bool reaches(std::span<const BoxDim> dims, Int128 low, Int128 high) {
  if (low <= 0 && 0 <= high) return true;
  if (dims.empty() || high < 0 || low > dims[0].span) return false;
  if (dims[0].span <= high) return true;
  if (floor_div(high, dims[0].gcd) * dims[0].gcd < low) return false;
  if (dims.size() == 1) return true;

  const BoxDim& dim = dims[0];
  const std::span<const BoxDim> rest = dims.subspan(1);
  const Int128 last = std::min(dim.count - 1, floor_div(high, dim.stride));
  Int128 x = std::max<Int128>(0, ceil_div(low - rest[0].span, dim.stride));
  while (x <= last) {
    const std::optional<Int128> next = next_candidate(dim.stride, rest[0].gcd, low, high, x);
    if (!next || *next > last) return false;
    if (reaches(rest, low - dim.stride * *next, high - dim.stride * *next)) return true;
    x = *next + 1;
  }
  return false;
}

/// The least sum that is >= `low`, for dims whose sums ascend with the index vector.
Int128 first_ordered(std::span<const BoxDim> dims, Int128 low) {
  Int128 sum = 0;
  for (const BoxDim& dim : dims) {
    if (low <= 0) break;
    const Int128 inner = dim.span - dim.stride * (dim.count - 1);
    const Int128 x = std::min(low / dim.stride, dim.count - 1);
    sum += x * dim.stride;
    low -= x * dim.stride;
    if (low > inner) return sum + dim.stride;  // In the gap behind block x.
  }
  return sum;
}

/// The least sum that is >= `low`: gallops, then bisects.
Int128 first_by_search(std::span<const BoxDim> dims, Int128 low) {
  Int128 width = 0;
  while (!reaches(dims, low, low + width)) width = 2 * width + 1;
  Int128 short_by = -1;  // Nothing in [low, low + short_by].
  while (width - short_by > 1) {
    const Int128 middle = short_by + (width - short_by) / 2;
    (reaches(dims, low, low + middle) ? width : short_by) = middle;
  }
  return low + width;
}

/// Merges one pair of dims of `dims` (descending strides) if any pair allows it: an outer stride
/// that is at most `inner count` times the inner one only continues the inner sequence.
bool merge_one(std::vector<BoxDim>& dims) {
  for (std::size_t outer = 0; outer < dims.size(); ++outer) {
    for (std::size_t inner = outer + 1; inner < dims.size(); ++inner) {
      const Int128 step = dims[outer].stride / dims[inner].stride;
      if (step * dims[inner].stride != dims[outer].stride || step > dims[inner].count) continue;
      dims[inner].count += step * (dims[outer].count - 1);
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(outer));
      return true;
    }
  }
  return false;
}

void add_pieces(Int128 base, std::span<const BoxDim> dims, Int128 run, Int128 begin, Int128 end,
                std::vector<StridedBox>& pieces) {
  const Int128 length = (dims.empty() ? 0 : dims[0].span) + run;
  if (base >= end || base + length <= begin) return;
  const auto add = [&](Int128 at, std::span<const BoxDim> of, Int128 bytes) -> StridedBox& {
    pieces.push_back({at, bytes, std::vector<BoxDim>(of.begin(), of.end())});
    return pieces.back();
  };
  if (begin <= base && base + length <= end) {
    add(base, dims, run).normalise();
    return;
  }
  if (dims.empty()) {
    const Int128 from = std::max(base, begin);
    add(from, {}, std::min(base + run, end) - from).normalise();
    return;
  }
  const BoxDim& dim = dims[0];
  const Int128 block = length - dim.stride * (dim.count - 1);
  const auto block_index = [&](Int128 x) { return std::clamp<Int128>(x, 0, dim.count); };
  // Blocks [first, whole) and [whole_end, last) are cut, those between lie inside entirely.
  const Int128 first = block_index(floor_div(begin - base - block, dim.stride) + 1);
  const Int128 last = block_index(ceil_div(end - base, dim.stride));
  Int128 whole = block_index(ceil_div(begin - base, dim.stride));
  Int128 whole_end = block_index(floor_div(end - base - block, dim.stride) + 1);
  if (whole >= whole_end) whole = whole_end = last;
  for (Int128 x = first; x < whole; ++x) {
    add_pieces(base + x * dim.stride, dims.subspan(1), run, begin, end, pieces);
  }
  if (whole < whole_end) {
    StridedBox& middle = add(base + whole * dim.stride, dims, run);
    middle.dims[0].count = whole_end - whole;
    middle.normalise();
  }
  for (Int128 x = whole_end; x < last; ++x) {
    add_pieces(base + x * dim.stride, dims.subspan(1), run, begin, end, pieces);
  }
}

}  // namespace

void StridedBox::normalise() {
  for (BoxDim& dim : dims) {
    assert(dim.count >= 1);
    if (dim.stride >= 0) continue;
    base += dim.stride * (dim.count - 1);
    dim.stride = -dim.stride;
  }
  std::erase_if(dims, [](const BoxDim& dim) { return dim.count == 1 || dim.stride == 0; });
  std::ranges::sort(dims, std::ranges::greater(), &BoxDim::stride);
  while (merge_one(dims)) continue;
  while (!dims.empty() && dims.back().stride <= run) {
    run += dims.back().stride * (dims.back().count - 1);
    dims.pop_back();
  }
  Int128 span = 0;
  Int128 divisor = 0;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    span += dim->stride * (dim->count - 1);
    divisor = gcd(dim->stride, divisor);
    dim->span = span;
    dim->gcd = divisor;
  }
}

bool StridedBox::is_ordered() const {
  for (std::size_t k = 0; k + 1 < dims.size(); ++k) {
    if (dims[k].stride <= dims[k + 1].span) return false;
  }
  return true;
}

bool StridedBox::is_nested() const {
  for (std::size_t k = 0; k + 1 < dims.size(); ++k) {
    if (dims[k].stride <= dims[k + 1].span + run) return false;
  }
  return true;
}

bool StridedBox::contains(Int128 address) const {
  return reaches(dims, address - base - run + 1, address - base);
}

std::optional<Int128> StridedBox::first_start(Int128 address) const {
  const Int128 low = address - base;
  if (low <= 0) return base;
  if (low > span()) return std::nullopt;
  return base + (is_ordered() ? first_ordered(dims, low) : first_by_search(dims, low));
}

std::optional<Int128> StridedBox::last_start(Int128 address) const {
  // The starts are symmetric about their middle.
  const Int128 mirror = 2 * base + span();
  const std::optional<Int128> start = first_start(mirror - address);
  if (!start) return std::nullopt;
  return mirror - *start;
}

Int128 StridedBox::run_end(Int128 address, Int128 enough) const {
  Int128 end = address;
  while (end < enough) {
    const std::optional<Int128> start = last_start(end);
    if (!start || *start + run <= end) break;
    end = *start + run;
  }
  return end;
}

std::vector<StridedBox> StridedBox::pieces(Int128 begin, Int128 end) const {
  std::vector<StridedBox> result;
  add_pieces(base, dims, run, begin, end, result);
  return result;
}

bool share_byte(const StridedBox& a, const StridedBox& b) {
  if (a.base >= b.end() || b.base >= a.end()) return false;
  // Runs at x and y share a byte iff x - y lies in (-a.run, b.run). With b's indices counted from
  // the last element, x - y + (last start of b - a.base) is a sum of all strides, each positive.
  StridedBox difference;
  difference.run = a.run + b.run - 1;
  difference.dims.reserve(a.dims.size() + b.dims.size());
  difference.dims.insert(difference.dims.end(), a.dims.begin(), a.dims.end());
  difference.dims.insert(difference.dims.end(), b.dims.begin(), b.dims.end());
  difference.normalise();
  return difference.contains(b.base + b.span() - a.base + b.run - 1);
}

}  // namespace memverify
