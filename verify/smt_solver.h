// verify/smt_solver.h -- the one door to Z3.
//
// A Solver owns a Z3 context and a solver in it; several live side by side, in one thread or in
// many (one thread a Solver; `interrupt` alone may come from another). Nothing of Z3 gets out: its
// exceptions, spent limits, memory included, are the answer kUnknown with a reason. A model is
// believed only after the asserted formulas have been worked out under its values.
//
// Memory is a limit of the process, not of a Solver: Z3 knows no other.
//
// Tested by tests/unit/verify/smt_solver_test.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/smt_term.h"

namespace memverify::smt {

enum class Answer : std::uint8_t { kSat, kUnsat, kUnknown };

/// 0: no limit. Steps are Z3's own count of work, the same on every machine.
struct Limits {
  std::uint32_t query_steps = 0;
  std::uint64_t total_steps = 0;
  std::uint64_t steps_before = 0;  ///< Of total_steps: spent by others.
  std::uint32_t query_ms = 0;      ///< Milliseconds; costs a timer thread a query.
  double total_seconds = 0;        ///< From the making of the Solver on.
  std::uint32_t memory_mb = 0;  ///< Mebibytes of the process; the greatest of all Solvers counts.
};

class Solver {
 public:
  explicit Solver(const Limits& limits = {}) : Solver(limits, Terms()) {}
  /// For formulas made of `terms` already.
  Solver(const Limits& limits, Terms terms);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  Terms& terms() { return terms_; }
  const Terms& terms() const { return terms_; }

  /// For the questions to come. Steps and time count from the making of the Solver on.
  void set_limits(const Limits& limits) { limits_ = limits; }

  /// From now on `formula` holds.
  void require(Bool formula);
  const std::vector<Bool>& required() const { return required_; }

  /// Whether all that is required can hold together with the assumptions. What one answer tells
  /// (model, core, reason) lasts until the next question.
  Answer check(std::span<const Bool> assumptions = {});

  /// After kSat: the value of any term made before `check`.
  bool value(Bool term) const { return model_[term.id] != 0; }
  std::int64_t value(Int term) const { return model_[term.id]; }
  /// After kUnsat: assumptions that cannot hold together; not always the fewest.
  const std::vector<Bool>& core() const { return core_; }
  /// After kUnknown: why, in words that end a sentence ("the limit of 1000 steps was reached").
  const std::string& reason() const { return reason_; }

  std::uint64_t queries() const { return queries_; }
  std::uint64_t steps() const { return steps_; }  ///< Spent so far.

  /// Ends a running `check` (kUnknown), from any thread; without one, has no effect.
  void interrupt() noexcept;

 private:
  struct Z3;  ///< Everything that needs z3++.h.

  Answer unknown(std::string reason);
  Answer ask(std::span<const Bool> assumptions);
  bool read_model(std::span<const Bool> assumptions);
  /// Milliseconds that a query may take; 0: no limit. nullopt: the time is spent.
  std::optional<std::uint32_t> time_left() const;

  Limits limits_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Terms terms_;
  std::vector<Bool> required_;
  std::vector<std::int64_t> model_;  ///< By term.
  std::vector<Bool> core_;
  std::string reason_;
  std::uint64_t queries_ = 0;
  std::uint64_t steps_ = 0;
  std::unique_ptr<Z3> z3_;
};

}  // namespace memverify::smt
