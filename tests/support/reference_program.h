// tests/support/reference_program.h -- one run's program: every command instance, with what it
// waits for and which bytes it touches, under given symbol and condition values.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "tests/support/reference_bytes.h"

namespace memverify::testing {

inline constexpr int kNobody = -1;   ///< The version of bytes that nothing has written.
inline constexpr int kInitial = -2;  ///< The value an input or constant has at the start.

/// What a read must find in one byte.
struct Expected {
  int base = kNobody;            ///< Index of a command, kInitial or kNobody (then it is MV105).
  std::vector<int> accumulates;  ///< Commands, ascending.
};

/// An access of one command instance.
struct Touch {
  AccessKind kind = AccessKind::kRead;
  TensorId tensor = kNone<TensorId>;  ///< kNone: a pool's bytes.
  std::int64_t instance = 0;
  std::int64_t slot = 0;
  std::string_view update;        ///< Accumulates.
  std::vector<int> bytes;         ///< Indices into `Program::bytes`.
  std::vector<Expected> expects;  ///< Reads: one per byte.
  int alloc = kNobody;            ///< The command that must complete before this starts.
  bool never_allocated = false;   ///< The storage has allocs, but none before this.
  int free = kNobody;             ///< The command that must not start before this completes.
};

struct Threshold {
  std::vector<int> of;
  std::int64_t max_incomplete = 0;
};
struct SemaphoreWait {
  SemaphoreId semaphore;
  std::int64_t value = 0;
  bool consume = false;
};
struct SemaphoreSignal {
  SemaphoreId semaphore;
  std::int64_t value = 0;
};

struct Command {
  OpId op = kNone<OpId>;
  std::int64_t iteration = 0;
  bool accesses_memory = true;      ///< False when a "pass" command is skipped.
  bool touches_everything = false;  ///< An unknown command that lists nothing.
  bool unknown = false;
  std::vector<Touch> touches;
  std::vector<int> complete_before_start;
  std::vector<int> start_before_start;
  std::vector<int> complete_before_complete;
  std::vector<Threshold> thresholds;  ///< Before its start.
  std::vector<SemaphoreWait> waits;
  std::vector<SemaphoreSignal> signals;
  int previous_lifetime = kNobody;  ///< alloc, free: the one before, which must complete before it.
  bool wrong_lifetime = false;      ///< An alloc of a living slot, or a free of a dead one.
};

/// An access at the end of the program.
struct EndTouch {
  Touch touch;
  bool output = false;
  bool own_family_may_write = false;  ///< An input that is also an output.
};

/// Bytes that no access tells apart are one: `bytes` counts such classes.
struct Program {
  const Plan* plan = nullptr;
  std::vector<Command> commands;  ///< In program order, all iterations.
  std::vector<EndTouch> ends;
  std::size_t bytes = 0;
  std::vector<int> initial_version;  ///< Per byte: kInitial or kNobody.
  std::vector<std::int64_t> initial_semaphore;
};

/// Condition values of one run: by condition and iteration.
using ConditionValues = std::map<std::pair<ConditionId, std::int64_t>, bool>;

Program make_program(const Plan& plan, const Sizes& sizes, const ConditionValues& conditions);

}  // namespace memverify::testing
