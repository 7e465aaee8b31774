// verify/turns.h -- how often the slots of rotating storages come round together.
//
// Problem: with rings of 7 and of 11 slots the same bytes meet again after 77 iterations, but only
//   if the rings share bytes at all.
// Idea: storages whose slots overlap belong together; a turn of a group is the least common
//   multiple of its numbers of slots.
// Cost: O(slots log slots). Tested by tests/unit/verify/loop_test.cpp.
#pragma once

#include <cstdint>

#include "plan/layout.h"
#include "plan/plan.h"

namespace memverify {

struct Turns {
  std::int64_t longest = 1;  ///< Of the groups; at most the limit.
  std::int64_t all = 1;      ///< Of all storages together; at most the limit.
};

Turns find_turns(const Plan& plan, const Layout& layout, std::int64_t limit);

}  // namespace memverify
