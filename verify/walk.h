// verify/walk.h -- the greedy run: everything that can happen, happens.
//
// Problem: which command instances can be reached at all, and in what order?
// Idea: without consuming waits nothing that happens disables anything, so the run that does every
//   enabled instant reaches all that any run reaches. A command whose needs are not met is parked
//   on the first missing one and looked at again when that one starts or completes.
// Cost: linear in instances and their items (amortised), plus a heap operation per parked semaphore
//   wait; waits for `outstanding` on issue and none queues are looked at after each completion
//   there.
// Reference: the monotone argument is in docs/architecture.md.
// Tested by tests/unit/verify/order_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "verify/program.h"

namespace memverify {

struct Walk {
  std::vector<Cmd>
      order;  ///< Completed instances, in order of completion. All but records complete
              ///< at once, so this is also a linear extension of happens-before.
  std::vector<std::uint32_t> started;    ///< By Cmd: when, counting instants from 1; 0: never.
  std::vector<std::uint32_t> completed;  ///< By Cmd.
  bool all_completed = false;
};

/// The greedy run. Commands in `held` may start but never complete. With `only`, a flag by Cmd,
/// commands whose flag is 0 are left out of the run: they never start.
Walk walk(const Program& program, std::span<const Cmd> held = {},
          const std::vector<std::uint8_t>* only = nullptr);

/// A command that waits for ever, and what it waits for.
struct Blocked {
  Cmd cmd = kNoCmd;
  Cmd on = kNoCmd;                             ///< A command that never completes, or
  SemaphoreId semaphore = kNone<SemaphoreId>;  ///< a count that is never reached, or
  QueueId queue = kNone<QueueId>;              ///< ops of a queue.
};

/// After a walk that did not complete everything: the commands that are held back by a sync of
/// their own (not merely by an earlier command of their queue or thread), in program order.
std::vector<Blocked> blocked_commands(const Program& program, const Walk& walk);

}  // namespace memverify
