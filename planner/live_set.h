// planner/live_set.h -- how many bytes are alive at once in a run.
//
// Problem: a value is alive from the start of its first access until all have completed; which
//   state of which run has most alive?
// Idea: a state is a set of instants that is closed under "needs". With one first and one last
//   access a value counts where its start is in the set, and no longer where its end is too: the
//   best set is a closure of maximum weight, a minimum cut. Of several first or last accesses one
//   is picked that shows that the value is alive. Few picks are all tried; else they follow the
//   state that they lead to as long as that helps, from the best one of the greedy walk and from
//   those that let one queue lag behind.
// Cost: O(n log n) for the walk, and a minimum cut over two nodes an instance for each pick, as
//   many as the work allows; none where one of several signals may satisfy a wait.
// Example: of w(a) on q0, r(a) w(b) on q1 and r(a) w(c) on q2 no state has all three alive.
// Tested by tests/unit/planner/live_set_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/lower_bound.h"

namespace memverify {

struct LiveSet {
  std::int64_t bytes = 0;    ///< Alive at once in some run.
  std::int64_t at_most = 0;  ///< In no run are more alive; equal where every state was considered.
  std::vector<std::uint32_t> members;  ///< Which values those are, ascending; `bytes` in all.
};

/// Instances that minimum cuts may still look at; less afterwards. With one of 0 the walk decides.
using LiveSetWork = std::uint64_t;

/// Bytes that an op reads and another value may take over in place count once while it runs.
/// `walk` is the greedy run, which completes everything; `weights` by value, >= 0.
LiveSet largest_live_set(const Program& program, const Walk& walk, const LiveValues& live,
                         std::span<const std::int64_t> weights, const SharingPairs& sharing,
                         LiveSetWork& work);

}  // namespace memverify
