// Problem: a claim about every iteration needs to know what a value becomes in the long run.
// Idea: evaluate with straight lines instead of numbers. Sums of lines are lines, so is a line
//   times a constant; the greater of two lines is, from where they cross, the steeper one. Anything
//   else is a line only if it does not depend on the iteration.
// Cost: linear in the formula. Tested by tests/unit/plan/expr_test.cpp.
#include <algorithm>

#include "plan/expr.h"
#include "plan/expr_fold.h"

namespace memverify {
namespace {

/// The first i >= 0 with `a(i) >= b(i)` if `a` is steeper; nullopt on overflow.
std::optional<std::int64_t> crossing(const Trend& a, const Trend& b) {
  std::int64_t behind = 0;
  std::int64_t gain = 0;
  if (__builtin_sub_overflow(b.value, a.value, &behind)) return std::nullopt;
  if (__builtin_sub_overflow(a.slope, b.slope, &gain)) return std::nullopt;
  return behind <= 0 ? 0 : behind / gain + (behind % gain != 0 ? 1 : 0);
}

/// The greater of two lines, or the lesser one.
std::optional<Trend> extreme(const Trend& a, const Trend& b, std::int64_t from, bool greater) {
  if (a.slope == b.slope) {
    const std::int64_t value = greater ? std::max(a.value, b.value) : std::min(a.value, b.value);
    return Trend{value, a.slope, from};
  }
  const bool a_is_steeper = a.slope > b.slope;
  const Trend& steep = a_is_steeper ? a : b;
  const Trend& flat = a_is_steeper ? b : a;
  const std::optional<std::int64_t> at = crossing(steep, flat);
  if (!at) return std::nullopt;
  const Trend& wins = greater ? steep : flat;
  return Trend{wins.value, wins.slope, std::max(from, *at)};
}

}  // namespace

std::optional<Trend> ExprPool::apply(Code code, const Trend& a, const Trend& b) {
  const std::int64_t from = std::max(a.from, b.from);
  if (code == Code::kMin || code == Code::kMax) return extreme(a, b, from, code == Code::kMax);
  const bool both_constant = a.slope == 0 && b.slope == 0;
  if (code == Code::kAdd || code == Code::kSub) {
    const auto value = apply(code, a.value, b.value);
    const auto slope = apply(code, a.slope, b.slope);
    if (!value || !slope) return std::nullopt;
    return Trend{*value, *slope, from};
  }
  const auto value = apply(code, a.value, b.value);
  if (!value) return std::nullopt;
  if (both_constant) return Trend{*value, 0, from};
  if (code != Code::kMul || (a.slope != 0 && b.slope != 0)) return std::nullopt;
  const auto slope = a.slope == 0 ? apply(code, a.value, b.slope) : apply(code, a.slope, b.value);
  if (!slope) return std::nullopt;
  return Trend{*value, *slope, from};
}

std::optional<Trend> ExprPool::trend(Expr expr, const Valuation& valuation) const {
  const auto leaf = [&](Code code, std::int64_t operand) -> std::optional<Trend> {
    if (code == Code::kIteration) return Trend{0, 1, 0};
    if (code == Code::kPush) return Trend{operand, 0, 0};
    return Trend{valuation.symbols[static_cast<std::size_t>(operand)], 0, 0};
  };
  return fold<Trend>(*this, expr, leaf,
                     [](Code code, const Trend& a, const Trend& b) { return apply(code, a, b); });
}

}  // namespace memverify
