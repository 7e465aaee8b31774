// Expressions as polynomials, and what must hold for a plan to have a layout. The comparisons are
// in verify/symbol_alike_maker.cpp.
#include "verify/symbol_alike.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace memverify {
namespace {

constexpr Wide kLeast = std::numeric_limits<std::int64_t>::min();
constexpr Wide kFar = Wide{1} << 62;
constexpr std::size_t kPinnedNamed = 3;

}  // namespace

SymbolicPlan::SymbolicPlan(const Plan& plan, smt::Terms& terms)
    : plan_(plan), terms_(terms), polys_(plan, terms), used_(plan.formulas.all_symbols()) {
  for (const SymbolId id : used_) bounded_ = bounded_ && plan.symbols[id].max.has_value();
  formulas_.resize(plan.formulas.size());
  for (std::uint32_t k = 0; k < formulas_.size(); ++k) read_formula(k);
  bound_sizes();
  bound_addresses();
}

const Poly& SymbolicPlan::poly(Expr expr) const {
  if (!expr.is_constant()) return formulas_[expr.formula];
  return constants_.try_emplace(expr.constant, Polys::number(expr.constant)).first->second;
}

/// The value must be one of 64 bits; in a plan with an unbounded symbol this bounds the symbol.
void SymbolicPlan::fits(const Poly& p) {
  if (Polys::constant(p)) return;
  if (!bounded_) return must_fit_.push_back(p);
  not_positive_.push_back(polys_.subtract(p, Polys::number(kGreatest)));
  not_positive_.push_back(polys_.subtract(Polys::number(kLeast), p));
}

void SymbolicPlan::not_negative(const Poly& p) { not_positive_.push_back(polys_.subtract({}, p)); }

void SymbolicPlan::read_formula(std::uint32_t formula) {
  Expr expr;
  expr.formula = formula;
  if (plan_.formulas.uses_iteration(expr)) return;
  std::vector<Poly> stack;
  for (const ExprPool::Instruction& step : plan_.formulas.code(expr)) {
    if (step.code == ExprPool::Code::kPush) {
      stack.push_back(Polys::number(step.operand));
    } else if (step.code == ExprPool::Code::kSymbol) {
      stack.push_back(polys_.symbol(static_cast<SymbolId>(step.operand)));
    } else {
      apply(step.code, stack);
      fits(stack.back());
    }
  }
  formulas_[formula] = std::move(stack.back());
}

void SymbolicPlan::apply(ExprPool::Code code, std::vector<Poly>& stack) {
  const Poly right = std::move(stack.back());
  stack.pop_back();
  if (code == ExprPool::Code::kNeg) return stack.push_back(polys_.subtract({}, right));
  Poly& left = stack.back();
  switch (code) {
    case ExprPool::Code::kAdd:
      left = polys_.add(left, right);
      return;
    case ExprPool::Code::kSub:
      left = polys_.subtract(left, right);
      return;
    case ExprPool::Code::kMul:
      left = polys_.multiply(left, right);
      return;
    case ExprPool::Code::kDiv:
      not_zero_.push_back(right);
      left = polys_.divide(left, right);
      return;
    case ExprPool::Code::kMod:
      not_zero_.push_back(right);
      left = polys_.modulo(left, right);
      return;
    case ExprPool::Code::kMin:
      left = polys_.least(left, right);
      return;
    case ExprPool::Code::kMax:
      left = polys_.greatest(left, right);
      return;
    case ExprPool::Code::kAlign:
      not_positive_.push_back(polys_.subtract(Polys::number(1), right));
      left = polys_.add(left, polys_.modulo(polys_.subtract({}, left), right));
      return;
    case ExprPool::Code::kPush:
    case ExprPool::Code::kSymbol:
    case ExprPool::Code::kIteration:
    case ExprPool::Code::kNeg:
      assert(false && "not a binary operator");
  }
}

/// Bytes of a row-major tensor with a dtype.
Poly SymbolicPlan::typed_bytes(const Tensor& tensor) {
  Poly elements = Polys::number(1);
  for (const Expr dim : Plan::slice(plan_.exprs, tensor.shape)) {
    elements = polys_.multiply(elements, poly(dim));
  }
  const int element_bits = bits(tensor.dtype);
  if (element_bits >= 8) return polys_.multiply(elements, Polys::number(element_bits / 8));
  return polys_.divide(polys_.add(elements, Polys::number(1)), Polys::number(2));
}

void SymbolicPlan::bound_sizes() {
  for (const Pool& pool : plan_.pools) {
    if (pool.bytes) not_negative(poly(*pool.bytes));
    if (pool.peak_bytes) not_negative(poly(*pool.peak_bytes));
  }
  for (const Storage& storage : plan_.storages) not_negative(poly(storage.bytes));
  for (const Tensor& tensor : plan_.tensors) {
    if (tensor.dtype == DType::kNone) not_negative(poly(tensor.bytes));
    for (const Expr dim : Plan::slice(plan_.exprs, tensor.shape)) not_negative(poly(dim));
  }
  for (const Part& part : plan_.parts) {
    not_negative(poly(part.offset));
    if (part.bytes) not_negative(poly(*part.bytes));
  }
}

void SymbolicPlan::bound_addresses() {
  for (const Storage& storage : plan_.storages) {
    for (const Expr slot : Plan::slice(plan_.exprs, storage.slots)) {
      fits(polys_.add(poly(slot), poly(storage.bytes)));
    }
  }
  offsets_.resize(plan_.tensors.size());
  for (const TensorId id : ids(plan_.tensors)) {
    for (TensorId at = id; at != kNone<TensorId>; at = plan_.tensors[at].base) {
      offsets_[index(id)] = polys_.add(offsets_[index(id)], poly(plan_.tensors[at].offset));
    }
    const Tensor& tensor = plan_.tensors[id];
    const Poly bytes = tensor.dtype == DType::kNone ? poly(tensor.bytes) : typed_bytes(tensor);
    for (const Expr slot : Plan::slice(plan_.exprs, plan_.storages[tensor.storage].slots)) {
      const Poly begin = polys_.add(poly(slot), offsets_[index(id)]);
      fits(begin);
      fits(polys_.add(begin, bytes));
    }
  }
}

std::vector<smt::Bool> SymbolicPlan::domain() {
  std::vector<smt::Bool> result = polys_.domain();
  for (const Poly& p : must_fit_) {
    result.push_back(polys_.at_most_zero(polys_.subtract(p, Polys::number(kFar - 1))));
    result.push_back(polys_.at_most_zero(polys_.subtract(Polys::number(1 - kFar), p)));
  }
  return result;
}

void SymbolicPlan::pin(Expr expr) {
  const std::string text = plan_.formulas.to_string(expr);
  if (pinned_.size() < kPinnedNamed && std::ranges::find(pinned_, text) == pinned_.end()) {
    pinned_.push_back(text);
  }
}

std::string SymbolicPlan::nonlinear() const {
  for (std::uint32_t k = 0; k < formulas_.size(); ++k) {
    Expr expr;
    expr.formula = k;
    for (const auto& [atoms, coefficient] : formulas_[k]) {
      if (atoms.size() > 1) return plan_.formulas.to_string(expr);
    }
  }
  return "";
}

std::vector<smt::Bool> SymbolicPlan::exactly(const std::vector<std::int64_t>& symbols) {
  std::vector<smt::Bool> result;
  for (const SymbolId id : used_) {
    result.push_back(
        polys_.is_zero(polys_.subtract(polys_.symbol(id), Polys::number(symbols[index(id)]))));
  }
  return result;
}

}  // namespace memverify
