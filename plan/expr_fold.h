// plan/expr_fold.h -- formulas worked out over other values than numbers.
#pragma once

#include <optional>
#include <vector>

#include "plan/expr.h"

namespace memverify {

/// Runs the postfix code of `expr`: `leaf(code, operand)` gives the value of a constant, a symbol
/// or the iteration, `combine(code, a, b)` that of a binary operator; both an optional, and nullopt
/// ends it. `-a` is taken as `0 - a`. Cost: linear in the formula.
template <typename Value, typename Leaf, typename Combine>
std::optional<Value> fold(const ExprPool& formulas, Expr expr, Leaf leaf, Combine combine) {
  using Code = ExprPool::Code;
  if (expr.is_constant()) return leaf(Code::kPush, expr.constant);
  std::vector<Value> stack;
  for (const auto& [code, operand] : formulas.code(expr)) {
    const bool is_leaf = code == Code::kPush || code == Code::kSymbol || code == Code::kIteration;
    std::optional<Value> value = leaf(is_leaf ? code : Code::kPush, is_leaf ? operand : 0);
    if (value && !is_leaf) {
      const Value right = stack.back();
      stack.pop_back();
      if (code == Code::kNeg) {
        value = combine(Code::kSub, *value, right);
      } else {
        value = combine(code, stack.back(), right);
        stack.pop_back();
      }
    }
    if (!value) return std::nullopt;
    stack.push_back(*value);
  }
  return stack.back();
}

}  // namespace memverify
