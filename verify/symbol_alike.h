// verify/symbol_alike.h -- which values of a plan's symbols make no difference to its verdict.
//
// Problem: a plan is decided for one value of its symbols at a time, and they may have any number
// of
//   values.
// Idea: order does not depend on bytes. What a plan does wrong depends on the symbols only through
//   finitely many comparisons: which region begins before which other one ends, which storage fits
//   its pool, which offset is aligned. For given values `alike` writes down, as formulas over the
//   symbols, comparisons that hold there and that fix every answer an engine gives about the plan;
//   so all values that satisfy them have the same findings, at other addresses. It is enough to fix
//   more than needed: the values then fall into more classes than there are behaviours. Regions
//   that meet form clusters of intervals. Inside one the order of all end points is fixed, between
//   neighbouring clusters only that the one ends before the other begins. Values of semaphores and
//   shapes of strided tensors are fixed to what they are.
// Cost: per call O(r log r) in the contiguous runs of all accessed regions, over all slots.
// Example: `a` is [0, 64*n), `b` is [256, 320): n <= 4 | n = 5 | n > 5.
// Tested by tests/unit/verify/symbol_search_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "verify/symbol_poly.h"

namespace memverify {

/// The values of the symbols for which the plan's verdict is that of the ones asked for.
struct Alike {
  std::vector<smt::Bool> formulas;  ///< All hold for the values asked for.
  bool has_layout = true;           ///< False: for the values of the class the plan has no layout.
};

class SymbolicPlan {
 public:
  /// All tensors must be placed.
  SymbolicPlan(const Plan& plan, smt::Terms& terms);

  Polys& polys() { return polys_; }
  const Polys& polys() const { return polys_; }
  /// The symbols that some formula uses, ascending.
  const std::vector<SymbolId>& used() const { return used_; }
  /// What the symbols range over. With a symbol without `max`: as far as all sizes, offsets and
  /// addresses stay below 2^62 bytes in magnitude.
  std::vector<smt::Bool> domain();
  /// Expressions that `alike` has fixed to a value of theirs, as in the plan; at most a few.
  const std::vector<std::string>& pinned() const { return pinned_; }
  /// An expression that is not linear in the symbols; "" when all are.
  std::string nonlinear() const;

  Alike alike(const std::vector<std::int64_t>& symbols);
  /// Exactly these values of the used symbols.
  std::vector<smt::Bool> exactly(const std::vector<std::int64_t>& symbols);

 private:
  friend class AlikeMaker;
  void read_formula(std::uint32_t formula);
  void apply(ExprPool::Code code, std::vector<Poly>& stack);
  void bound_sizes();
  void bound_addresses();
  Poly typed_bytes(const Tensor& tensor);
  const Poly& poly(Expr expr) const;
  void fits(const Poly& p);
  void not_negative(const Poly& p);
  void pin(Expr expr);
  std::optional<Alike> layout_class(std::vector<smt::Bool>& valid);

  const Plan& plan_;
  smt::Terms& terms_;
  Polys polys_;
  std::vector<SymbolId> used_;
  bool bounded_ = true;         ///< Every used symbol has a `max`.
  std::vector<Poly> formulas_;  ///< By formula; of those without `iteration`.
  mutable std::map<std::int64_t, Poly> constants_;
  std::vector<Poly> offsets_;       ///< By tensor: of element 0, from the start of the slot.
  std::vector<Poly> not_positive_;  ///< What must be <= 0 for the plan to have a layout.
  std::vector<Poly> not_zero_;
  std::vector<Poly> must_fit_;  ///< Of an unbounded symbol's plan: |p| < 2^62.
  std::vector<std::string> pinned_;
};

}  // namespace memverify
