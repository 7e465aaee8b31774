// verify/symbol_poly.h -- sizes and offsets as polynomials over a plan's symbols.
//
// Problem: "does this tensor end before that one starts, whatever the symbols are?" A solver
//   answers that, but most such questions need none: both sides are sums of the same sizes.
// Idea: a normal form. Each symbol is `first + step * k` with an integer k >= 0; a value is a sum
//   of products of *atoms*: the k's, and what floor division, remainder, min and max make of older
//   values. `align(x, a)` is x plus a remainder. Terms that occur on both sides cancel, and the
//   bounds of the atoms decide the sign of most of what is left. The rest becomes a formula for the
//   solver.
// Cost: linear in the sizes of the operands, times log; products multiply the sizes.
// Example: `end <= align(end, 64)` is `0 <= remainder`, true by the remainder's bounds.
// Tested by tests/unit/verify/symbol_poly_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "plan/expr.h"
#include "plan/plan.h"
#include "verify/smt_term.h"

namespace memverify {

__extension__ typedef __int128 Wide;

inline constexpr Wide kGreatest = std::numeric_limits<std::int64_t>::max();  ///< Of an address.

/// Rounds towards minus infinity. Precondition: b != 0.
inline Wide floor_div(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

using AtomId = std::uint32_t;

/// A sum of products: coefficients (never 0) by the sorted atoms of the product; {} is the
/// constant.
using Poly = std::map<std::vector<AtomId>, Wide>;

/// What is known of a value; nullopt: no bound.
struct Bounds {
  std::optional<Wide> low;
  std::optional<Wide> high;
};

class Polys {
 public:
  /// One atom per symbol, ranging over what `min`, `max` and `multiple_of` allow.
  Polys(const Plan& plan, smt::Terms& terms);

  static Poly number(Wide value);
  Poly symbol(SymbolId id) const;
  Poly add(const Poly& a, const Poly& b) { return combine(a, 1, b, 1); }
  Poly subtract(const Poly& a, const Poly& b) { return combine(a, 1, b, -1); }
  Poly multiply(const Poly& a, const Poly& b);
  Poly divide(const Poly& a, const Poly& b);  ///< Floor. The divisor must not be 0.
  Poly modulo(const Poly& a, const Poly& b);  ///< a - b * divide(a, b).
  Poly least(const Poly& a, const Poly& b);
  Poly greatest(const Poly& a, const Poly& b);

  Bounds bounds(const Poly& p) const;
  static std::optional<Wide> constant(const Poly& p);

  /// The formula `p <= 0` or `p = 0`: a truth where bounds decide.
  smt::Bool at_most_zero(const Poly& p);
  smt::Bool is_zero(const Poly& p);

  /// Sets the values of the symbols, by SymbolId. False if some atom then has no value (a division
  /// by 0, 128 bits passed).
  bool assign(const std::vector<std::int64_t>& symbols);
  /// Under the assigned values; nullopt as above.
  std::optional<Wide> value(const Poly& p) const;

  /// The variable k of a symbol, and the value of the symbol for one of k.
  smt::Int variable(SymbolId id) const { return atoms_[index(id)].term; }
  /// Number of values less one, nullopt without `max`.
  std::optional<Wide> last(SymbolId id) const { return atoms_[index(id)].bounds.high; }
  Wide symbol_value(SymbolId id, Wide k) const;
  /// What the variables range over: `0 <= k <= last`.
  std::vector<smt::Bool> domain();

  /// Set once a coefficient has passed 127 bits (in `Poly`) or 64 (in a formula): all is void then.
  bool overflowed() const { return overflowed_; }

 private:
  enum class AtomKind : std::uint8_t { kVariable, kDivide, kModulo, kMin, kMax };
  struct Atom {
    AtomKind kind = AtomKind::kVariable;
    Poly a, b;
    Bounds bounds;
    smt::Int term;
    std::optional<Wide> value;
  };
  struct Axis {
    Wide first = 0;
    Wide step = 1;
  };

  Poly combine(const Poly& a, Wide by, const Poly& b, Wide times);
  Poly atom(AtomKind kind, const Poly& a, const Poly& b);
  Poly without_remainders(Poly p, Wide divisor);
  std::pair<Poly, Poly> split(const Poly& a, Wide divisor);
  Bounds monomial_bounds(const std::vector<AtomId>& of) const;
  Bounds atom_bounds(AtomKind kind, const Poly& a, const Poly& b) const;
  std::optional<Wide> atom_value(const Atom& atom) const;
  smt::Int atom_term(AtomKind kind, const Poly& a, const Poly& b);
  smt::Int wide(Wide value);
  smt::Int term(const Poly& p);
  Poly normal(const Poly& p, bool equality);

  smt::Terms& terms_;
  std::vector<Axis> axes_;   ///< By SymbolId.
  std::vector<Atom> atoms_;  ///< Those of the symbols first; operands are older.
  std::map<std::tuple<AtomKind, Poly, Poly>, AtomId> known_;
  bool overflowed_ = false;
};

}  // namespace memverify
