// verify/warnings.h -- syncs without effect (MV301).
#pragma once

#include <cstdint>
#include <vector>

#include "verify/findings.h"

namespace memverify {

/// Waits for events that never bind, and records that nothing waits for; at most 20. `bound`, by
/// op: some run binds a wait of it; empty: not known, so no wait is reported.
void add_sync_warnings(const Plan& plan, const std::vector<std::uint8_t>& bound,
                       Findings& findings);

}  // namespace memverify
