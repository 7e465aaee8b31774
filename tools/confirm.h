// tools/confirm.h -- no run is printed that the simulator does not confirm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"
#include "sim/replay.h"

namespace memverify {

using Replay = std::function<ReplayResult(const Plan&, const Finding&)>;

struct Confirmation {
  std::size_t witnesses = 0;          ///< Findings that come with a run.
  std::size_t replayed = 0;           ///< Of those, the ones that were replayed.
  std::vector<std::string> failures;  ///< A sentence for each run that does not show its finding.
};

/// Steps that all replays of one plan may take together; those of the plan's own length count, too,
/// for a replay looks at every op.
inline constexpr std::uint64_t kReplayBudget = 20'000'000;

/// Replays the findings' runs in order until `budget` steps are spent; the first is always
/// replayed.
Confirmation confirm(const Plan& plan, std::span<const Finding> findings, const Replay& replay,
                     std::uint64_t budget);

}  // namespace memverify
