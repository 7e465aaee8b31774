// tools/report_json.h -- a report as JSON (docs/format.md, "Verdicts and exit codes").
#pragma once

#include <string>

#include "sim/replay.h"
#include "tools/report.h"

namespace memverify {

enum class JsonLayout {
  kPretty,   ///< Indented; whatever fits in a line stays in one.
  kOneLine,  ///< JSON Lines: for several files.
};

/// One JSON object and a newline. Text that is no valid UTF-8 comes out with U+FFFD in its place.
std::string json_report(const Report& report, JsonLayout layout);

/// Whether the run of `finding` shows it, or where it departs.
std::string replay_json(const Plan& plan, const std::string& file, const Finding& finding,
                        const ReplayResult& result);

/// The object that a result has for the finding, with the whole run: what a witness file holds.
std::string json_finding(const Plan& plan, const Finding& finding);

}  // namespace memverify
