// verify/schedule.h -- one run in time: everything happens as soon as it may.
//
// Problem: which of several readers completes last, and when, if nothing is late?
// Idea: over the greedy run, a start comes after the latest of what it needs. A wait for a count is
//   served by the earliest signals that suffice; as those may stand later in the walk, passes go on
//   until nothing gets earlier.
// Cost: linear in the run; with counts a sort of their signals for each wait, and a few passes.
// Tested by tests/unit/verify/schedule_test.cpp, which holds it against sim/timed.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {

/// Ticks by Cmd; 0 for what `walk` never reached.
struct Schedule {
  std::vector<std::int64_t> start, complete;
  std::int64_t makespan = 0;
};

/// Durations and queue delays are the greatest that the plan lists, or the least.
Schedule schedule(const Program& program, const Walk& walk, bool greatest = true);

/// Calls `visit` for commands whose completion the start of `cmd` needs by the rules of its queue,
/// its thread and its syncs, but for waits of counts. Those of a queue that completes in order are
/// shown by the last one.
void for_each_need(const Program& program, Cmd cmd, const std::function<void(Cmd)>& visit);

}  // namespace memverify
