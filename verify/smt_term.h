// verify/smt_term.h -- formulas of linear integer arithmetic with Booleans.
//
// Problem: the same formula is given to Z3, written to a file that other solvers read, and checked
//   against the values that a solver claims to satisfy it.
// Idea: formulas are kept here, as a graph of nodes in which equal terms are one node. Arguments
//   are older than the terms made of them, so that every walk over a formula is a loop.
// Cost: O(arguments) a term made.
// Tested by tests/unit/verify/smt_solver_test.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace memverify::smt {

/// A Boolean and an integer term: indices into the Terms that made them.
struct Bool {
  std::uint32_t id = 0;
  bool operator==(const Bool&) const = default;
};
struct Int {
  std::uint32_t id = 0;
  bool operator==(const Int&) const = default;
};

/// `weight` if `holds`, else nothing.
struct Weighted {
  Bool holds;
  std::int64_t weight = 1;
};

enum class TermKind : std::uint8_t {
  kBoolean,  ///< A free Boolean.
  kInteger,  ///< A free integer.
  kTruth,    ///< A Boolean constant.
  kNumber,   ///< An integer constant.
  kNot,
  kAnd,
  kOr,
  kIff,
  kAtMost,  ///< a <= b.
  kEqual,   ///< a = b, of integers.
  kChoose,  ///< An integer: a Boolean, then, else.
  kSum,
  kProduct,  ///< Of two; linear when one is a number.
  kDivide,   ///< Floor for a divisor > 0; not asked of others.
  kModulo,   ///< Of [0, divisor) for a divisor > 0.
};

struct Term {
  TermKind kind = TermKind::kTruth;
  std::int64_t value = 0;           ///< Of constants; the number of a name for free terms.
  std::vector<std::uint32_t> args;  ///< All less than the term's own id.
  bool operator==(const Term&) const = default;
};

/// Values of free terms, by id; of other terms they are worked out.
using Assignment = std::unordered_map<std::uint32_t, std::int64_t>;

/// Thrown where a deadline has passed.
struct OutOfTime {};

class Terms {
 public:
  Terms();

  /// From now on, whoever makes many terms may meet OutOfTime after `deadline`. nullopt: nobody.
  void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) {
    deadline_ = deadline;
  }

  /// Free terms. Names are for people and need not be unique; dumped names are.
  Bool boolean(std::string name);
  Int integer(std::string name);

  Bool truth(bool value) const { return Bool{value ? 1U : 0U}; }
  Int number(std::int64_t value);
  bool is_true(Bool a) const { return a.id == 1; }
  bool is_false(Bool a) const { return a.id == 0; }

  // Constants are folded, negations cancel, equal arguments are one.
  Bool no(Bool a);
  Bool all(std::vector<Bool> of);
  Bool any(std::vector<Bool> of);
  Bool both(Bool a, Bool b) { return all({a, b}); }
  Bool either(Bool a, Bool b) { return any({a, b}); }
  Bool implies(Bool a, Bool b) { return any({no(a), b}); }
  Bool iff(Bool a, Bool b);

  Bool at_most(Int a, Int b);                            ///< a <= b
  Bool less(Int a, Int b) { return no(at_most(b, a)); }  ///< a < b
  Bool equal(Int a, Int b);
  Int choose(Bool condition, Int then, Int otherwise);
  Int sum(std::vector<Int> of);
  Int add(Int a, Int b) { return sum({a, b}); }
  Int subtract(Int a, Int b) { return sum({a, multiply(number(-1), b)}); }
  Int multiply(Int a, Int b);
  Int divide(Int a, Int b);
  Int modulo(Int a, Int b);
  Int least(Int a, Int b) { return choose(at_most(a, b), a, b); }
  Int greatest(Int a, Int b) { return choose(at_most(a, b), b, a); }

  /// The weights of those that hold are `bound` or more together.
  Bool weigh_at_least(std::span<const Weighted> of, std::int64_t bound);
  /// At most `most` of them hold: a Boolean counter of size * most terms, no arithmetic.
  Bool hold_at_most(std::span<const Bool> of, std::size_t most);

  const std::vector<Term>& terms() const { return terms_; }
  /// By id: some root is the term or made of it.
  std::vector<std::uint8_t> needed(std::span<const Bool> roots) const;
  const std::string& name(const Term& free) const {
    return names_[static_cast<std::size_t>(free.value)];
  }

  /// The value of every term (Booleans are 0 and 1); nullopt if one that `roots` need passes 64
  /// bits, 0 for others that do. Free terms that are not assigned count as 0.
  std::optional<std::vector<std::int64_t>> evaluate(const Assignment& values,
                                                    std::span<const Bool> roots) const;

  /// A file in SMT-LIB 2.6 that asks whether all of `asserted` can hold: `comment` lines, the least
  /// logic that has them, declarations, assertions, one check-sat.
  std::string dump(std::span<const Bool> asserted, const std::string& comment) const;

 private:
  std::uint32_t add_term(Term term);
  Bool make(TermKind kind, std::vector<std::uint32_t> args);
  Int make_int(TermKind kind, std::vector<std::uint32_t> args);
  std::optional<std::int64_t> constant(Int a) const;

  std::vector<Term> terms_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::vector<std::string> names_;
  std::unordered_multimap<std::size_t, std::uint32_t> known_;  ///< By hash.
};

}  // namespace memverify::smt
