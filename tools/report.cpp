#include "tools/report.h"

#include "plan/words.h"

namespace memverify {

ExitCode exit_code(const Report& report) {
  if (!report.errors.empty()) return ExitCode::kBadInput;
  const ExitCode code = exit_code(report.verdict);
  return report.internal_errors.empty() ? code : ExitCode::kInternal;
}

std::string outcome_line(const Report& report) {
  if (!report.errors.empty()) {
    return "error, " + counted(static_cast<std::int64_t>(report.errors.size()), "error");
  }
  std::string line = std::string(name(report.verdict)) + ", " +
                     counted(static_cast<std::int64_t>(report.stats.pairs_checked), "pair") +
                     " checked, " +
                     counted(static_cast<std::int64_t>(report.findings.size()), "finding");
  if (report.stopped_at_max_findings) line += " (stopped at --max-findings)";
  return line;
}

}  // namespace memverify
