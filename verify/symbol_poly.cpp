#include "verify/symbol_poly.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <utility>

namespace memverify {
namespace {

constexpr Wide kMax64 = std::numeric_limits<std::int64_t>::max();

std::optional<Wide> sum(std::optional<Wide> a, std::optional<Wide> b) {
  Wide result = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &result)) return std::nullopt;
  return result;
}

std::optional<Wide> product(std::optional<Wide> a, std::optional<Wide> b) {
  Wide result = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &result)) return std::nullopt;
  return result;
}

Wide gcd(Wide a, Wide b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a < 0 ? -a : a;
}

bool at_least(std::optional<Wide> bound, Wide value) { return bound && *bound >= value; }
bool at_most(std::optional<Wide> bound, Wide value) { return bound && *bound <= value; }

}  // namespace

Polys::Polys(const Plan& plan, smt::Terms& terms) : terms_(terms) {
  for (const Symbol& symbol : plan.symbols) {
    const Wide step = symbol.multiple_of;
    const Axis axis{-floor_div(-Wide{symbol.min}, step) * step, step};
    Atom variable{.bounds = {Wide{0}, std::nullopt}};
    // A symbol is a 64-bit number whatever its bounds.
    variable.bounds.high =
        floor_div(symbol.max.value_or(std::numeric_limits<std::int64_t>::max()) - axis.first, step);
    if (!symbol.max) variable.bounds.high = std::nullopt;
    variable.term = terms.integer(std::string(symbol.name));
    axes_.push_back(axis);
    atoms_.push_back(std::move(variable));
  }
}

Poly Polys::number(Wide value) {
  Poly p;
  if (value != 0) p[{}] = value;
  return p;
}

Poly Polys::symbol(SymbolId id) const {
  Poly p = number(axes_[index(id)].first);
  p[{index(id)}] = axes_[index(id)].step;
  return p;
}

Wide Polys::symbol_value(SymbolId id, Wide k) const {
  return axes_[index(id)].first + axes_[index(id)].step * k;
}

Poly Polys::combine(const Poly& a, Wide by, const Poly& b, Wide times) {
  Poly result;
  for (const auto& [source, factor] : {std::pair(&a, by), std::pair(&b, times)}) {
    for (const auto& [atoms, coefficient] : *source) {
      Wide& to = result[atoms];
      const std::optional<Wide> next = sum(to, product(coefficient, factor));
      overflowed_ = overflowed_ || !next;
      to = next.value_or(0);
      if (to == 0) result.erase(atoms);
    }
  }
  return result;
}

Poly Polys::multiply(const Poly& a, const Poly& b) {
  Poly result;
  for (const auto& [left, x] : a) {
    for (const auto& [right, y] : b) {
      std::vector<AtomId> atoms = left;
      atoms.insert(atoms.end(), right.begin(), right.end());
      std::ranges::sort(atoms);
      const std::optional<Wide> factor = product(x, y);
      overflowed_ = overflowed_ || !factor;
      result = combine(result, 1, Poly{{std::move(atoms), factor.value_or(1)}}, 1);
    }
  }
  return result;
}

std::optional<Wide> Polys::constant(const Poly& p) {
  if (p.empty()) return 0;
  if (p.size() == 1 && p.begin()->first.empty()) return p.begin()->second;
  return std::nullopt;
}

/// `a` = quotient * divisor + rest, with every coefficient of the rest in [0, divisor).
std::pair<Poly, Poly> Polys::split(const Poly& a, Wide divisor) {
  Poly quotient;
  Poly rest;
  for (const auto& [atoms, coefficient] : a) {
    const Wide q = floor_div(coefficient, divisor);
    if (q != 0) quotient[atoms] = q;
    if (q * divisor != coefficient) rest[atoms] = coefficient - q * divisor;
  }
  return {quotient, rest};
}

Poly Polys::divide(const Poly& a, const Poly& b) {
  const std::optional<Wide> by = constant(b);
  if (!by || *by <= 0) return atom(AtomKind::kDivide, a, b);
  const auto [quotient, rest] = split(a, *by);
  const Bounds left = bounds(rest);
  if (at_least(left.low, 0) && at_most(left.high, *by - 1)) return quotient;
  return add(quotient, atom(AtomKind::kDivide, rest, b));
}

Poly Polys::modulo(const Poly& a, const Poly& b) {
  const std::optional<Wide> by = constant(b);
  if (!by || *by <= 0) return atom(AtomKind::kModulo, a, b);
  const auto [quotient, rest] = split(without_remainders(a, *by), *by);
  const Bounds left = bounds(rest);
  if (at_least(left.low, 0) && at_most(left.high, *by - 1)) return rest;
  return atom(AtomKind::kModulo, rest, b);
}

/// Congruent to `p` modulo the divisor: a remainder by a multiple of it gives way to what it is the
/// remainder of, so that aligned values are seen to be aligned.
Poly Polys::without_remainders(Poly p, Wide divisor) {
  const auto gives_way = [&](const auto& part) {
    if (part.first.size() != 1) return false;
    const Atom& atom = atoms_[part.first[0]];
    const std::optional<Wide> by = constant(atom.b);
    return atom.kind == AtomKind::kModulo && by && *by > 0 && *by % divisor == 0;
  };
  for (auto at = std::ranges::find_if(p, gives_way); at != p.end();
       at = std::ranges::find_if(p, gives_way)) {
    const Poly of = atoms_[at->first[0]].a;  // Older atoms only, so this ends.
    const Wide coefficient = at->second;
    p.erase(at);
    p = combine(p, 1, of, coefficient);
  }
  return p;
}

Poly Polys::least(const Poly& a, const Poly& b) {
  const Bounds difference = bounds(subtract(a, b));
  if (at_most(difference.high, 0)) return a;
  if (at_least(difference.low, 0)) return b;
  return atom(AtomKind::kMin, std::min(a, b), std::max(a, b));
}

Poly Polys::greatest(const Poly& a, const Poly& b) {
  const Bounds difference = bounds(subtract(a, b));
  if (at_most(difference.high, 0)) return b;
  if (at_least(difference.low, 0)) return a;
  return atom(AtomKind::kMax, std::min(a, b), std::max(a, b));
}

Poly Polys::atom(AtomKind kind, const Poly& a, const Poly& b) {
  const auto [at, is_new] = known_.try_emplace({kind, a, b}, static_cast<AtomId>(atoms_.size()));
  if (is_new) {
    Atom made{kind, a, b, atom_bounds(kind, a, b), atom_term(kind, a, b), std::nullopt};
    made.value = atom_value(made);
    atoms_.push_back(std::move(made));
  }
  return Poly{{{at->second}, 1}};
}

Bounds Polys::atom_bounds(AtomKind kind, const Poly& a, const Poly& b) const {
  const Bounds x = bounds(a);
  const Bounds y = bounds(b);
  const auto both = [](std::optional<Wide> p, std::optional<Wide> q, bool least) {
    if (!p || !q) return std::optional<Wide>();
    return std::optional<Wide>(least ? std::min(*p, *q) : std::max(*p, *q));
  };
  const auto one = [&](std::optional<Wide> p, std::optional<Wide> q, bool least) {
    return p && q ? both(p, q, least) : p ? p : q;
  };
  switch (kind) {
    case AtomKind::kVariable:
      break;
    case AtomKind::kMin:
      return {both(x.low, y.low, true), one(x.high, y.high, true)};
    case AtomKind::kMax:
      return {one(x.low, y.low, false), both(x.high, y.high, false)};
    case AtomKind::kModulo:
      if (!at_least(y.low, 1)) break;
      return {Wide{0}, sum(y.high, Wide{-1})};
    case AtomKind::kDivide:
      if (!at_least(y.low, 1)) break;
      if (at_least(x.low, 0)) {
        return {Wide{0}, x.high ? std::optional<Wide>(*x.high / *y.low) : std::nullopt};
      }
      break;
  }
  return {};
}

Bounds Polys::monomial_bounds(const std::vector<AtomId>& of) const {
  if (of.size() == 1) return atoms_[of[0]].bounds;
  Bounds result{Wide{1}, Wide{1}};
  for (const AtomId id : of) {
    const Bounds& atom = atoms_[id].bounds;
    if (!at_least(atom.low, 0)) return {};
    result.low = product(result.low, atom.low).value_or(0);
    result.high = product(result.high, atom.high);
  }
  return result;
}

Bounds Polys::bounds(const Poly& p) const {
  Bounds total{Wide{0}, Wide{0}};
  for (const auto& [atoms, coefficient] : p) {
    Bounds of = monomial_bounds(atoms);
    if (coefficient < 0) std::swap(of.low, of.high);
    total.low = sum(total.low, product(of.low, coefficient));
    total.high = sum(total.high, product(of.high, coefficient));
  }
  return total;
}

bool Polys::assign(const std::vector<std::int64_t>& symbols) {
  bool known = true;
  for (AtomId id = 0; id < atoms_.size(); ++id) {
    Atom& atom = atoms_[id];
    atom.value =
        id < axes_.size() ? (symbols[id] - axes_[id].first) / axes_[id].step : atom_value(atom);
    known = known && atom.value;
  }
  return known;
}

std::optional<Wide> Polys::value(const Poly& p) const {
  std::optional<Wide> total = 0;
  for (const auto& [atoms, coefficient] : p) {
    std::optional<Wide> part = coefficient;
    for (const AtomId id : atoms) part = product(part, atoms_[id].value);
    total = sum(total, part);
  }
  return total;
}

std::optional<Wide> Polys::atom_value(const Atom& atom) const {
  const std::optional<Wide> a = value(atom.a);
  const std::optional<Wide> b = value(atom.b);
  if (!a || !b) return std::nullopt;
  switch (atom.kind) {
    case AtomKind::kVariable:
      break;
    case AtomKind::kMin:
      return std::min(*a, *b);
    case AtomKind::kMax:
      return std::max(*a, *b);
    case AtomKind::kDivide:
    case AtomKind::kModulo:
      if (*b == 0) return std::nullopt;
      if (atom.kind == AtomKind::kDivide) return floor_div(*a, *b);
      return *a - floor_div(*a, *b) * *b;
  }
  return std::nullopt;
}

smt::Int Polys::wide(Wide value) {
  if (value >= -kMax64 && value <= kMax64) return terms_.number(static_cast<std::int64_t>(value));
  constexpr Wide kUnit = Wide{1} << 62;
  const Wide units = floor_div(value, kUnit);
  if (units < -kMax64 || units > kMax64) {
    overflowed_ = true;
    return terms_.number(0);
  }
  return terms_.add(terms_.multiply(terms_.number(static_cast<std::int64_t>(kUnit)),
                                    terms_.number(static_cast<std::int64_t>(units))),
                    terms_.number(static_cast<std::int64_t>(value - units * kUnit)));
}

smt::Int Polys::term(const Poly& p) {
  std::vector<smt::Int> parts;
  for (const auto& [atoms, coefficient] : p) {
    smt::Int part = wide(coefficient);
    if (!atoms.empty()) {
      smt::Int of = atoms_[atoms[0]].term;
      for (std::size_t k = 1; k < atoms.size(); ++k)
        of = terms_.multiply(of, atoms_[atoms[k]].term);
      part = terms_.multiply(part, of);
    }
    parts.push_back(part);
  }
  return terms_.sum(std::move(parts));
}

smt::Int Polys::atom_term(AtomKind kind, const Poly& a, const Poly& b) {
  const smt::Int x = term(a);
  const smt::Int y = term(b);
  if (kind == AtomKind::kMin) return terms_.least(x, y);
  if (kind == AtomKind::kMax) return terms_.greatest(x, y);
  const smt::Int one = terms_.number(1);
  const smt::Int minus = terms_.number(-1);
  const bool divides = kind == AtomKind::kDivide;
  if (at_least(bounds(b).low, 1)) return divides ? terms_.divide(x, y) : terms_.modulo(x, y);
  // The solver is asked about divisors above 0 only.
  const smt::Int up = terms_.greatest(y, one);
  const smt::Int minus_x = terms_.multiply(minus, x);
  const smt::Int down = terms_.greatest(terms_.multiply(minus, y), one);
  const smt::Bool positive = terms_.at_most(one, y);
  if (divides) return terms_.choose(positive, terms_.divide(x, up), terms_.divide(minus_x, down));
  return terms_.choose(positive, terms_.modulo(x, up),
                       terms_.multiply(minus, terms_.modulo(minus_x, down)));
}

/// Coefficients divided by what they share, the constant rounded as `p <= 0` allows.
Poly Polys::normal(const Poly& p, bool equality) {
  Wide shared = 0;
  for (const auto& [atoms, coefficient] : p) {
    if (!atoms.empty()) shared = gcd(shared, coefficient);
  }
  if (shared <= 1) return p;
  Poly result;
  for (const auto& [atoms, coefficient] : p) {
    if (equality && coefficient % shared != 0) return number(1);  // Never zero.
    const Wide part = -floor_div(-coefficient, shared);
    if (part != 0) result[atoms] = part;
  }
  return result;
}

smt::Bool Polys::at_most_zero(const Poly& p) {
  const Bounds known = bounds(p);
  if (at_most(known.high, 0)) return terms_.truth(true);
  if (at_least(known.low, 1)) return terms_.truth(false);
  Poly left = normal(p, false);
  const auto at = left.find({});
  const Wide right = at == left.end() ? 0 : -at->second;
  if (at != left.end()) left.erase(at);
  return terms_.at_most(term(left), wide(right));
}

smt::Bool Polys::is_zero(const Poly& p) {
  const Bounds known = bounds(p);
  if (p.empty()) return terms_.truth(true);
  if (at_least(known.low, 1) || at_most(known.high, -1)) return terms_.truth(false);
  Poly left = normal(p, true);
  if (constant(left)) return terms_.truth(left.empty());
  if (left.rbegin()->second < 0) left = combine(left, -1, {}, 1);
  const auto at = left.find({});
  const Wide right = at == left.end() ? 0 : -at->second;
  if (at != left.end()) left.erase(at);
  return terms_.equal(term(left), wide(right));
}

std::vector<smt::Bool> Polys::domain() {
  std::vector<smt::Bool> result;
  for (AtomId id = 0; id < axes_.size(); ++id) {
    const Poly k{{{id}, 1}};
    const Wide greatest = floor_div(kMax64 - axes_[id].first, axes_[id].step);
    const Wide last = atoms_[id].bounds.high.value_or(greatest);
    result.push_back(terms_.at_most(terms_.number(0), term(k)));
    result.push_back(terms_.at_most(term(k), wide(last)));
  }
  return result;
}

}  // namespace memverify
