// cuda_check/calls.h -- what is asked of a device: the calls that a program would make to its
// driver.
//
// A *stream* executes what was given to it one after another, and nothing else orders streams but
// events and flags. Each submitting thread makes its calls in order; a call that names no stream is
// done by the thread itself, which blocks until it can be. The words are those of CUDA:
//
//   kRecordEvent   cudaEventRecord: the event is done when the stream gets here
//   kWaitEvent     cudaStreamWaitEvent, or cudaEventSynchronize by the thread: until the last
//                  record *submitted before this call* is done; at once if there was none
//   kSetFlag       cuStreamWriteValue, or a store by the thread
//   kWaitFlags     until `least` of the flags [flag, flag_end) are set (cuStreamWaitValue for one)
//   kStart         the start instant of a command; takes from its semaphores, all at once
//   kWork          the kernel, or host function, that touches its bytes
//   kFinish        its completion; signals its semaphores
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace memverify::device {

/// Dense index of a command instance, in program order.
enum class CommandId : std::uint32_t {};

struct Command {
  OpId op = kNone<OpId>;
  std::int64_t iteration = 0;
  bool passed = false;  ///< [S-9]: it has no accesses.
};

enum class CallKind : std::uint8_t {
  kRecordEvent,
  kWaitEvent,
  kSetFlag,
  kWaitFlags,
  kStart,
  kWork,
  kFinish,
};

inline constexpr std::uint32_t kNoStream = 0xFFFFFFFFU;

struct Call {
  CallKind kind = CallKind::kStart;
  std::uint32_t thread = 0;              ///< Who makes it.
  std::uint32_t stream = kNoStream;      ///< kNoStream: the thread itself does it.
  CommandId command = kNone<CommandId>;  ///< On whose behalf.
  std::uint32_t event = 0;
  std::uint32_t flag = 0;
  std::uint32_t flag_end = 0;
  std::uint32_t least = 0;
  /// Waits: whose instant is waited for; kNone: a count of the ops of `queue`.
  CommandId awaited = kNone<CommandId>;
  bool awaits_start = false;
  QueueId queue = kNone<QueueId>;
};

/// A semaphore must be at `value` or more at the start; with `consume`, `value` is taken away then.
struct Take {
  SemaphoreId semaphore = kNone<SemaphoreId>;
  std::int64_t value = 0;
  bool consume = false;
};

struct Give {
  SemaphoreId semaphore = kNone<SemaphoreId>;
  std::int64_t value = 0;
};

struct SemaphoreStart {
  std::int64_t value = 0;
  bool timeline = false;  ///< Keeps its maximum instead of adding up.
};

/// One plan in one case as calls.
struct Calls {
  Table<CommandId, Command> commands;
  std::vector<CommandId> ids;  ///< By iteration * ops + op; kNone: dropped.
  std::size_t ops = 0;         ///< Of the plan.
  std::vector<Call> calls;     ///< In program order; those of a thread are made in this order.
  std::uint32_t threads = 1;
  std::uint32_t events = 0;
  std::uint32_t flags = 0;
  std::vector<QueueId> streams;  ///< By stream: whose commands it has.
  Table<CommandId, std::vector<Take>> takes;
  Table<CommandId, std::vector<Give>> gives;
  Table<SemaphoreId, SemaphoreStart> semaphores;
  /// Some wait can become false again: a start takes from a semaphore, or a signal is negative.
  bool takes_away = false;

  CommandId find(OpId op, std::int64_t iteration) const {
    const std::size_t at = static_cast<std::size_t>(iteration) * ops + index(op);
    return iteration < 0 || at >= ids.size() ? kNone<CommandId> : ids[at];
  }
};

/// "`u` waits for `w` to complete"; what a call that does not happen waits for. `""` for one that
/// waits for nothing.
std::string waits_for(const Plan& plan, const Calls& calls, const Call& call);

/// The command's name, with its iteration in a plan that repeats.
std::string command_name(const Plan& plan, const Calls& calls, CommandId command);

}  // namespace memverify::device
