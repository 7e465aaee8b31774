// tools/report_text.h -- a report for people, in the manner of a compiler's diagnostics.
#pragma once

#include <string>

#include "tools/report.h"
#include "tools/style.h"

namespace memverify {

/// The findings, then the summary. No colour, time or address beyond what the plan says: equal
/// reports give equal text.
std::string text_report(const Report& report, const Style& style);

/// The findings, an empty line after each.
std::string text_findings(const Report& report, const Style& style);

/// Notes on the verdict, then `memverify: ` and the outcome line, which alone is stable.
std::string text_summary(const Report& report, const Style& style);

/// One finding, without the blank line between two.
std::string text_finding(const Plan& plan, const Finding& finding, const Style& style);

/// Of two ops that are not ordered, what the second waits for now: "`use` waits for nothing"; else
/// "".
std::string waits_now(const Plan& plan, const Finding& finding);

/// Steps of a witness that the text names; the JSON report has more.
inline constexpr std::size_t kMostStepsInText = 16;

}  // namespace memverify
