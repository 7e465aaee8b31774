#include "tools/refuse.h"

#include "tools/report_json.h"
#include "tools/report_text.h"

namespace memverify {

ExitCode refuse(const Report& report, bool json, ColorMode color, StandardOutput& output) {
  write_error(text_errors(report.errors, Style::of(color, stderr)));
  output.write(json ? json_report(report, JsonLayout::kPretty)
                    : "memverify: " + outcome_line(report) + "\n");
  return output.finish(ExitCode::kBadInput);
}

}  // namespace memverify
