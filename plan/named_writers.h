// plan/named_writers.h -- whether a `from` names an op that writes what is read ([S-43]).
#pragma once

#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

/// The reads and outputs whose `from` names an op that does not write all their bytes: "from.bytes"
/// at the `from`. Cost: linear in the runs of bytes of what those read and their writers write.
std::vector<Diagnostic> misnamed_writers(const Plan& plan, const Layout& layout);

}  // namespace memverify
