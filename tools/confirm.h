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
#include "tools/report.h"

namespace memverify {

using Replay = std::function<ReplayResult(const Finding&)>;

struct Confirmation {
  std::size_t witnesses = 0;          ///< Findings that come with a run.
  std::size_t replayed = 0;           ///< Of those, the ones that were replayed.
  std::vector<std::string> failures;  ///< A sentence for each run that does not show its finding.
};

/// Steps (ReplayResult::steps) that all replays of one plan may take together.
inline constexpr std::uint64_t kReplayBudget = 20'000'000;

/// Replays the findings' runs in order until `budget` steps are spent. The first is always
/// replayed, any other one if its run is not longer than what is left.
Confirmation confirm(const Plan& plan, std::span<const Finding> findings, const Replay& replay,
                     std::uint64_t budget);

/// Puts the findings of a report into words and replays their runs; what does not replay becomes an
/// internal error.
void confirm_findings(Report& report);

/// Fills `report.one_wait` where several errors have one; each finding's help names but its own.
/// Cost: a verification for each finding, at most 16, of plans of up to 2000 ops.
void note_one_wait(Report& report);

}  // namespace memverify
