// plan/stuck.h -- why a command of a deadlock never goes on. Private to describe*.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// A command in one iteration.
struct StuckAt {
  OpId op = kNone<OpId>;
  std::int64_t iteration = 0;
  bool operator==(const StuckAt&) const = default;
};

/// One blocked command and what holds it back.
struct StuckLink {
  StuckAt who;
  std::string why;                             ///< "waits for `b` to complete"
  SemaphoreId semaphore = kNone<SemaphoreId>;  ///< Of that wait, if it is one for a semaphore.
};

/// From `finding.ops[0]` on, each held back by the next.
struct StuckChain {
  std::vector<StuckLink> links;
  std::size_t cycle = 0;  ///< The last link is held back by this one; links.size(): by nothing that
                          ///< could still come.
};

/// Of the state after the finding's witness. Empty where that state is not known or too large
/// (50,000 command instances, 2 * 10^6 for all links). O(instances) for each link.
StuckChain stuck_chain(const Plan& plan, const Finding& finding);

}  // namespace memverify
