// verify/wait_candidates.h -- the waits among which a repair chooses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/edit.h"
#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// True iff which wait gets which signal may be a choice of the run: commands of several queues, or
/// of one that does not start them in order, take from a semaphore. Another wait may then end a
/// deadlock.
bool has_choice(const Plan& plan);

/// The distance of the findings, 1 to 4; 0 of a plan that runs once.
std::uint32_t widest_distance(const Plan& plan, const EngineResult& found);

/// True iff two iterations may lie further apart than `widest`.
bool has_distance_above(const Plan& plan, std::uint32_t widest);

/// All pairs of runtime commands with every distance up to `widest`; of a plan that runs once and
/// has one case only those whose order is open.
std::vector<AddedWait> candidates_of(const Plan& plan, std::uint32_t widest);

/// The waits that would order what the findings are about, at any distance.
std::vector<AddedWait> waits_between(const Plan& plan, std::span<const Finding> findings);

}  // namespace memverify
