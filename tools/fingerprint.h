// tools/fingerprint.h -- a number for what a finding says, the same from one run to the next.
#pragma once

#include <string>

#include "tools/report.h"

namespace memverify {

/// 16 hexadecimal digits of the rules, the plan (its file as it was named, and its name), the ops
/// with all that they access, tensors and syncs by name, and how many iterations apart. What
/// changes with every build stays out: bytes, places, iterations as such, the run.
std::string fingerprint(const Report& report, const Finding& finding);

}  // namespace memverify
