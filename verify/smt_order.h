// verify/smt_order.h -- the runs of a program, as formulas in a solver.
//
// Besides the formulas this knows the pairs that every run orders because needs that always apply
// chain them, and commands that complete in every run that goes on for as long as it can. What they
// decide is never asked; that is a shortcut alone, and `Shortcuts::kNone` leaves it out, as a dump
// does.
//
// Cost: commands^2 / 64 words for the known pairs, at most 8,000 commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "verify/smt_program.h"
#include "verify/smt_solver.h"

namespace memverify::smt {

enum class Shortcuts : std::uint8_t { kNone, kKnownOrder };

class Order {
 public:
  /// Requires of `solver` that its models are runs of `program` (both must outlive this).
  Order(const Program& program, Solver& solver, Shortcuts shortcuts);

  /// True only if in every run in which `b` has started and `a` is not dropped, `a` has completed
  /// before.
  bool known_before(Cmd a, Cmd b) const { return get(known_, a, b); }
  /// The same of `a` having started, at the latest with `b`.
  bool known_started(Cmd a, Cmd b) const { return get(known_started_, a, b); }

  /// `a` has completed before `b` starts, which is in the run.
  Bool done_before(Cmd a, Cmd b);
  /// `a` completes after `b` does; both are in the run.
  Bool completes_after(Cmd a, Cmd b);
  /// Everything that is not dropped has completed.
  Bool finished() { return finished(every_); }
  Bool finished(std::span<const Cmd> of);
  /// The run cannot go on.
  Bool maximal();
  /// The run cannot go on, though something has not completed ([S-45]).
  Bool stuck();
  /// The same of commands that nothing but conditions ties to the others; what those do is left
  /// open.
  Bool stuck(std::span<const Cmd> of);
  /// The start of `c` cannot be the next instant.
  Bool cannot_start(Cmd c);
  Bool is_met(const Need& need);  ///< Now, at the end of the run.

 private:
  using Rows = std::vector<std::uint64_t>;  ///< Row by command, bit by command.

  bool get(const Rows& rows, Cmd a, Cmd b) const {
    return row_ != 0 && (rows[b * row_ + a / 64] >> (a % 64) & 1) != 0;
  }
  void set(Rows& rows, Cmd a, Cmd b) const {
    rows[b * row_ + a / 64] |= std::uint64_t{1} << (a % 64);
  }
  void join(Rows& rows, Cmd from, const Rows& of, Cmd into) const;
  void find_known_order();
  void learn(Cmd c);
  void learn_done(Cmd c, Cmd at);
  void learn_signals(Cmd c, const Need& need);
  void require_commands();
  void require_counts();
  void require_need(Cmd c, const Need& need, Bool happens, Int when);
  Bool reached(Cmd c, const Need& need);
  Bool signalled(Cmd a, Cmd b);
  template <typename Done, typename Taken>
  Int sum_up(SemaphoreId id, Done&& done, Taken&& taken);
  Int balance_now(SemaphoreId id);
  Bool few(const std::vector<Bool>& of, std::int64_t most);
  bool may_get_stuck() const;
  void find_sure();
  bool is_sure(const Need& need) const;
  Bool cannot_go_on(std::span<const Cmd> of);

  const Program& program_;
  Solver& solver_;
  Terms& terms_;
  struct Met {
    Bool holds;
    Int when;
  };
  std::vector<Met> met_;    ///< By count.
  std::vector<Cmd> every_;  ///< All commands.
  /// By command: in every run that cannot go on it has completed, unless it is dropped.
  std::vector<std::uint8_t> sure_;
  struct Sure {
    std::int64_t sum = 0;
    std::int64_t most = 0;
  };
  std::vector<Sure> sure_signals_;  ///< By semaphore: of sure commands that are never dropped.
  Rows known_;
  Rows known_started_;
  std::size_t row_ = 0;      ///< Words; 0: nothing is known.
  std::uint64_t spent_ = 0;  ///< Signals times commands looked at by learn_signals.
};

}  // namespace memverify::smt
