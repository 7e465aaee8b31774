// verify/smt_program.h -- the meaning of a plan's order as formulas over instants.
//
// Problem: a formula whose models are the runs of the plan, prefixes included, under all values of
//   the conditions.
// Idea: every command of every iteration has Booleans (present, started, completed) and two
//   integers (start, complete). A start or completion that is in the run implies what it needs:
//   that another command is completed (or started) and at an instant not later. Which commands a
//   wait means depends on what is dropped; so a need comes with the condition under which it
//   applies. A start is strictly before its completion, hence nothing can be its own cause.
// Small example: b after a is `started(b) -> completed(a) & complete(a) <= start(b)`.
// Cost: linear in the commands and needs; commands that may be dropped add, for each later command
//   of their queue up to one that is never dropped, a need.
//
// This file reads the plan by itself: it shares no line about order with verify/program.h, of which
// it uses only the list of instances, for verify/footprint.h.
//
// Tested by tests/unit/verify/smt_verify_test.cpp, tests/agreement.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"
#include "verify/program.h"
#include "verify/smt_solver.h"

namespace memverify::smt {

struct Command {
  Bool present;    ///< Not dropped.
  Bool touches;    ///< Present, and not passed ([S-9]): it has its accesses.
  Bool started;    ///< In this run; implies present.
  Bool completed;  ///< Implies started.
  Int start;       ///< Any value unless started.
  Int complete;
};

/// What an instant needs, if `applies`.
struct Need {
  enum class Kind : std::uint8_t {
    kDone,       ///< `at` has completed.
    kStarted,    ///< `at` has started.
    kCount,      ///< Count `count` is met.
    kSemaphore,  ///< `semaphore` is at `value` or more.
  };
  Kind kind = Kind::kDone;
  Bool applies;
  Cmd at = kNoCmd;
  std::uint32_t count = 0;
  SemaphoreId semaphore = kNone<SemaphoreId>;
  std::int64_t value = 0;
};

/// At most `most` of these ops of `queue` are present and incomplete.
struct Count {
  std::vector<Cmd> of;
  std::int64_t most = 0;
  QueueId queue = kNone<QueueId>;
};

/// A start that takes from a semaphore, or a completion that adds to one (or raises it).
struct Change {
  Cmd cmd = kNoCmd;
  std::int64_t value = 0;
};

struct SemaphoreUse {
  std::int64_t initial = 0;
  bool timeline = false;
  std::vector<Change> signals;
  std::vector<Change> takes;
};

/// An event wait that binds to something, if `binds`.
struct EventBinding {
  OpId op = kNone<OpId>;
  Bool binds;
};

struct Program {
  memverify::Program listed;  ///< Instances alone, as if no condition dropped any.
  std::vector<Command> commands;
  std::vector<std::vector<Need>> to_start;
  std::vector<std::vector<Need>> to_complete;
  std::vector<Count> counts;
  std::vector<SemaphoreUse> semaphores;
  std::vector<EventBinding> bindings;
  struct ConditionTerm {
    ConditionId condition = kNone<ConditionId>;
    std::uint32_t iteration = 0;  ///< 0 when there is one for all.
    Bool holds;
  };
  std::vector<ConditionTerm> conditions;  ///< Those that some `when` uses.
  bool bad_value = false;  ///< A value of a semaphore or a wait overflows or is negative.

  bool always(const Terms& terms, Cmd cmd) const { return terms.is_true(commands[cmd].present); }
};

/// Everything but the formulas of the needs: those are verify/smt_order.h. `layout` gives the
/// symbols their values. `reaches_end`: there are no more iterations.
Program make_program(const Plan& plan, const Layout& layout, std::uint32_t iterations,
                     bool reaches_end, Terms& terms);

}  // namespace memverify::smt
