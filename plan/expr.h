// plan/expr.h -- integer expressions over the symbols of a plan (docs/format.md, "Symbols and
// expressions").
//
// Grammar:  sum := product (('+' | '-') product)* ;  product := unary (('*' | '/' | '%') unary)* ;
//           unary := '-' unary | atom ;
//           atom := integer | name | 'min' '(' sum ',' sum ')' | 'max' … | 'align' … | '(' sum ')'.
// `/` is floor division, `%` its remainder (sign of the divisor), `align(x, a)` the least multiple of
// a > 0 that is >= x. Nesting is limited to 200 levels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/ids.h"

namespace memverify {

/// An expression: a constant, or the index of a formula in an `ExprPool`. A value, 16 bytes.
struct Expr {
  static constexpr std::uint32_t kConstant = 0xFFFFFFFFU;
  std::int64_t constant = 0;          ///< The value when `formula == kConstant`.
  std::uint32_t formula = kConstant;  ///< Index into the ExprPool otherwise.

  Expr() = default;
  Expr(std::int64_t value) noexcept : constant(value) {}
  bool is_constant() const noexcept { return formula == kConstant; }
};

/// The values an expression is evaluated under.
struct Valuation {
  std::vector<std::int64_t> symbols;  ///< By SymbolId; all of the plan's symbols.
  std::int64_t iteration = 0;         ///< The value of `iteration`.
};

/// What a value becomes: `value + slope * i` in every iteration i >= `from`.
struct Trend {
  std::int64_t value = 0;
  std::int64_t slope = 0;
  std::int64_t from = 0;
};

/// Owns the formulas of one plan, as postfix code. Cost of `eval`: linear in the formula.
class ExprPool {
 public:
  /// What a step does.
  enum class Code : std::uint8_t {
    kPush, kSymbol, kIteration, kAdd, kSub, kMul, kDiv, kMod, kMin, kMax, kAlign, kNeg
  };
  /// One step of the stack machine: binary operators take their right operand from the top.
  struct Instruction {
    Code code;
    std::int64_t operand;  ///< The constant of kPush, the SymbolId of kSymbol.
  };
  /// What is wrong with the text of an expression.
  struct ParseError {
    std::string_view id;  ///< "expr.syntax", "expr.symbol" (unknown name) or "expr.overflow".
    std::string message;
    std::size_t offset = 0;  ///< Bytes into the text.
  };

  /// Parses `text`. `symbol` maps a name to its id, or to nullopt when there is none.
  /// A text that is a plain integer, or folds to one, yields a constant. On failure returns the
  /// error in `error` and the constant 0. `allow_iteration` admits the name `iteration`.
  Expr parse(std::string_view text, bool allow_iteration,
             const std::function<std::optional<SymbolId>(std::string_view)>& symbol,
             std::optional<ParseError>& error);

  /// The value, or nullopt on overflow of 64 bits or division by zero (also align by a <= 0).
  std::optional<std::int64_t> eval(Expr expr, const Valuation& valuation) const;

  /// How the value goes on with `iteration` (that of the valuation is not used), for formulas in
  /// which it is only added, multiplied by constants and compared; nullopt for others, and where a
  /// number on the way does not fit in 64 bits.
  std::optional<Trend> trend(Expr expr, const Valuation& valuation) const;

  /// Number of formulas; each Expr that is not constant has a smaller index.
  std::size_t size() const noexcept { return formulas_.size(); }
  /// True iff the formula mentions `iteration`.
  bool uses_iteration(Expr expr) const;
  /// The symbols the formula mentions, ascending, without repetition.
  std::vector<SymbolId> symbols(Expr expr) const;
  /// The symbols that any formula of the pool depends on, ascending, without repetition.
  std::vector<SymbolId> all_symbols() const;

  /// The postfix code of a formula; empty for a constant.
  std::span<const Instruction> code(Expr expr) const;

  /// The text that parses to the same expression (the user's own text for a formula).
  std::string to_string(Expr expr) const;

 private:
  /// Slices of `code_` and `texts_`; both end where the next formula begins.
  struct Formula {
    std::size_t code_begin;
    std::size_t text_begin;
  };
  static std::optional<std::int64_t> apply(Code code, std::int64_t a, std::int64_t b);
  static std::optional<Trend> apply(Code code, const Trend& a, const Trend& b);

  std::vector<Formula> formulas_;
  std::vector<Instruction> code_;
  std::string texts_;
  friend class ExprParser;
};

}  // namespace memverify
