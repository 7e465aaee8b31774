// tools/timed_report.h -- what timed runs showed, as text and as JSON.
#pragma once

#include <string>

#include "plan/plan.h"
#include "sim/timed.h"

namespace memverify {

std::string timed_text(const Plan& plan, const TimedOptions& options, const TimedResult& result);
/// One JSON object and a newline; counts are decimal strings where they may not fit a number.
std::string timed_json(const Plan& plan, const std::string& file, const TimedOptions& options,
                       const TimedResult& result);

}  // namespace memverify
