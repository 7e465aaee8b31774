// sim/replay.h -- executes one given run of a plan and looks whether it shows what it claims.
#pragma once

#include <cstdint>
#include <string>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// Whether a run shows what it claims.
struct ReplayResult {
  bool confirmed = false;
  std::string reason;       ///< Where the run departs from the plan, or what it fails to show.
  std::uint64_t steps = 0;  ///< What it took: instants of the run, and commands that were laid out.
};

/// Takes `finding.witness` step by step under `finding.symbols` and `finding.when` (conditions that
/// are not listed: any value that lets the named ops run). Every step must be allowed by [S-6] to
/// [S-36]. At the end the finding must hold: MV101-103 both ops are between start and complete and
/// clash on `finding.bytes`; MV104, MV105 the reader has started and finds another version than
/// expected; MV106 everything has completed and the tensor does not hold its value; MV111 no step
/// is possible and the op waits; MV112 the access or free is outside alloc…free. Cost: linear in
/// the plan and the run.
ReplayResult replay(const Plan& plan, const Finding& finding);

}  // namespace memverify
