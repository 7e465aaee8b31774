// tools/report_json.h -- a report as JSON (docs/format.md, "The result").
#pragma once

#include <string>

#include "tools/report.h"

namespace memverify {

enum class JsonLayout {
  kPretty,   ///< Indented; whatever fits in a line stays in one.
  kOneLine,  ///< JSON Lines: for several files.
};

/// One JSON object and a newline. Text that is no valid UTF-8 comes out with U+FFFD in its place.
std::string json_report(const Report& report, JsonLayout layout);

}  // namespace memverify
