#include "planner/size_bound.h"

#include <algorithm>
#include <limits>

#include "plan/expr_fold.h"

namespace memverify {
namespace {

__extension__ using Wide = __int128;

struct Interval {
  Wide low = 0, high = 0;
};

constexpr Wide kWidest = Wide{1} << 80;  // Products of two still fit.

std::optional<Interval> checked(Wide low, Wide high) {
  if (low < -kWidest || high > kWidest) return std::nullopt;
  return Interval{low, high};
}

Wide floor_of(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

std::optional<Interval> product(const Interval& a, const Interval& b) {
  constexpr Wide kMost = Wide{1} << 62;
  for (const Wide end : {a.low, a.high, b.low, b.high}) {
    if (end < -kMost || end > kMost) return std::nullopt;
  }
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return checked(low, high);
}

/// The values of `a code b`.
std::optional<Interval> apply_to_intervals(ExprPool::Code code, const Interval& a,
                                           const Interval& b) {
  using Code = ExprPool::Code;
  const bool divides = b.low == b.high && b.low > 0;
  switch (code) {
    case Code::kAdd:
      return checked(a.low + b.low, a.high + b.high);
    case Code::kSub:
      return checked(a.low - b.high, a.high - b.low);
    case Code::kMul:
      return product(a, b);
    case Code::kMin:
      return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
    case Code::kMax:
      return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
    case Code::kDiv:
      if (!divides) return std::nullopt;
      return Interval{floor_of(a.low, b.low), floor_of(a.high, b.low)};
    case Code::kMod:
      if (!divides) return std::nullopt;
      if (floor_of(a.low, b.low) != floor_of(a.high, b.low)) return Interval{0, b.low - 1};
      return Interval{a.low - floor_of(a.low, b.low) * b.low,
                      a.high - floor_of(a.low, b.low) * b.low};
    case Code::kAlign:
      if (!divides) return std::nullopt;
      return checked(-floor_of(-a.low, b.low) * b.low, -floor_of(-a.high, b.low) * b.low);
    case Code::kNeg:
    case Code::kPush:
    case Code::kSymbol:
    case Code::kIteration:
      break;
  }
  return std::nullopt;
}

std::optional<Interval> values_of(const Plan& plan, Expr expr) {
  const auto leaf = [&](ExprPool::Code code, std::int64_t operand) -> std::optional<Interval> {
    if (code == ExprPool::Code::kPush) return Interval{operand, operand};
    if (code == ExprPool::Code::kIteration) return std::nullopt;  // No size depends on it.
    const Symbol& symbol = plan.symbols[static_cast<SymbolId>(operand)];
    if (!symbol.max) return std::nullopt;
    return Interval{least_value(symbol), *symbol.max};
  };
  return fold<Interval>(plan.formulas, expr, leaf, apply_to_intervals);
}

}  // namespace

std::optional<std::int64_t> greatest_bytes(const Plan& plan, const Tensor& tensor) {
  if (tensor.has_strides) return std::nullopt;
  Interval bytes{1, 1};
  if (tensor.dtype == DType::kNone) {
    const std::optional<Interval> own = values_of(plan, tensor.bytes);
    if (!own) return std::nullopt;
    bytes = *own;
  } else {
    for (const Expr& dimension : Plan::slice(plan.exprs, tensor.shape)) {
      const std::optional<Interval> size = values_of(plan, dimension);
      const std::optional<Interval> more = size ? product(bytes, *size) : std::nullopt;
      if (!more) return std::nullopt;
      bytes = *more;
    }
    bytes.high = (bytes.high * bits(tensor.dtype) + 7) / 8;
  }
  if (bytes.high > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(std::max<Wide>(bytes.high, 0));
}

}  // namespace memverify
