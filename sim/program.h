// sim/program.h -- what a plan runs once everything that it leaves open is settled.
//
// A Program holds one command per runtime command instance that is not dropped, in program order,
// and for each command what its start and its completion need. It says nothing about bytes: those
// are in sim/bytes.h. Rules are cited by their number in docs/semantics.md.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "plan/result.h"

namespace memverify::sim {

/// The values of all conditions in one run.
class ConditionValues {
 public:
  ConditionValues() = default;
  /// All false. A condition that is `per` run has one value, any other one per iteration.
  ConditionValues(const Plan& plan, std::int64_t iterations);
  bool operator==(const ConditionValues&) const = default;

  bool get(ConditionId condition, std::int64_t iteration) const {
    return values_[index(condition)][per_run_[index(condition)] ? 0 : to_index(iteration)] != 0;
  }
  void set(ConditionId condition, std::int64_t iteration, bool value) {
    values_[index(condition)][per_run_[index(condition)] ? 0 : to_index(iteration)] = value ? 1 : 0;
  }

 private:
  static std::size_t to_index(std::int64_t iteration) {
    return static_cast<std::size_t>(iteration);
  }
  std::vector<std::vector<std::uint8_t>> values_;
  std::vector<std::uint8_t> per_run_;
};

/// One way to settle what a plan leaves open.
struct Case {
  Valuation symbols;            ///< A value for every symbol.
  std::int64_t iterations = 1;  ///< How often the program runs, >= 1.
  std::int64_t unrolled = 1;    ///< Iterations whose commands are made: [0, unrolled).
  ConditionValues conditions;   ///< For at least `unrolled` iterations.
};

/// Dense index of a command, in program order.
enum class CommandId : std::uint32_t {};

struct Command {
  OpId op = kNone<OpId>;
  std::uint32_t iteration = 0;
  bool passed = false;  ///< [S-9]: it has no accesses.
};

/// Something that must have happened. Needs are monotone: once met they stay met.
struct Need {
  enum class Kind : std::uint8_t {
    kDone,     ///< Command `at` has completed.
    kStarted,  ///< Command `at` has started.
    kPrefix,   ///< The first `first` commands of sequence `at` have completed.
    kCount,    ///< At least `least` of the first `first` commands of sequence `at` have completed.
  };
  /// Which rule asks for it; what a blocked command says it waits for.
  enum class Reason : std::uint8_t {
    kQueue,
    kFence,
    kBarrier,
    kRecord,
    kThread,
    kDepth,
    kAfter,
    kEvent,
    kPending,
    kOutstanding,
    kHostWait,
  };
  Kind kind = Kind::kDone;
  Reason reason = Reason::kQueue;
  std::uint32_t at = 0;
  std::uint32_t first = 0;
  std::uint32_t least = 0;
};

/// A semaphore must be at `value` or more; with `consume` the start takes `value` away.
struct SemaphoreNeed {
  SemaphoreId semaphore = kNone<SemaphoreId>;
  bool consume = false;
  std::int64_t value = 0;
};

struct SemaphoreSignal {
  SemaphoreId semaphore = kNone<SemaphoreId>;
  std::int64_t value = 0;
};

struct Program {
  Table<CommandId, Command> commands;
  std::vector<CommandId> ids;  ///< By iteration * ops + op; kNone: no such command.
  std::size_t ops = 0;         ///< Of the plan.
  std::int64_t iterations = 1;
  std::int64_t unrolled = 1;

  // What each command needs and gives: slices that start where the previous command's end.
  std::vector<std::uint32_t> start_needs;  ///< First need of the start of command c.
  std::vector<std::uint32_t>
      finish_needs;  ///< First need of its completion; ends at the next start.
  std::vector<Need> needs;
  std::vector<std::uint32_t> semaphore_begin;
  std::vector<SemaphoreNeed> semaphore_needs;
  std::vector<std::uint32_t> signal_begin;
  std::vector<SemaphoreSignal> signals;

  /// Sequences of commands in program order: of queue q all its commands (2 q) and its ops (2 q +
  /// 1, [S-25]); the last one is every command, empty unless some need speaks of it.
  std::vector<std::vector<CommandId>> sequences;
  std::vector<std::uint8_t> counted;          ///< By sequence, 1 iff some kCount asks about it.
  Table<SemaphoreId, std::int64_t> initial;   ///< Counts at the start.
  Table<SemaphoreId, std::uint8_t> timeline;  ///< Keeps its maximum instead of adding up.
  bool consumes = false;                      ///< Some instant takes from a semaphore.

  /// Event waits that bind to nothing ([S-21]): (op, event), ascending, without repetition.
  std::vector<std::pair<OpId, EventId>> unbound;
  std::vector<std::pair<OpId, EventId>> bound;  ///< Those that bind at least once, likewise.

  CommandId find(OpId op, std::int64_t iteration) const {
    if (iteration < 0 || iteration >= unrolled) return kNone<CommandId>;
    return ids[static_cast<std::size_t>(iteration) * ops + index(op)];
  }
  std::span<const Need> to_start(CommandId c) const {
    return std::span(needs).subspan(start_needs[index(c)],
                                    finish_needs[index(c)] - start_needs[index(c)]);
  }
  std::span<const Need> to_finish(CommandId c) const {
    return std::span(needs).subspan(finish_needs[index(c)],
                                    start_needs[index(c) + 1] - finish_needs[index(c)]);
  }
  std::span<const SemaphoreNeed> semaphores_of(CommandId c) const {
    return std::span(semaphore_needs)
        .subspan(semaphore_begin[index(c)],
                 semaphore_begin[index(c) + 1] - semaphore_begin[index(c)]);
  }
  std::span<const SemaphoreSignal> signals_of(CommandId c) const {
    return std::span(signals).subspan(signal_begin[index(c)],
                                      signal_begin[index(c) + 1] - signal_begin[index(c)]);
  }
};

/// True iff `op` is dropped in `iteration` ([S-8]).
bool is_dropped(const Plan& plan, const Case& settled, OpId op, std::int64_t iteration);

/// Errors: "expr.overflow" when a semaphore value, `pending` or `outstanding` does not fit 64 bits,
/// "expr.negative" when one of the last two is below 0 (without a pointer; the message names the
/// op); "program.size" when there are more than 2^23 instances. Cost: linear in the instances,
/// their accesses aside, and in the needs (a few per command).
Result<Program> make_program(const Plan& plan, const Case& settled);

}  // namespace memverify::sim
