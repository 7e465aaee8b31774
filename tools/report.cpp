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
  const auto many = [](std::uint64_t count, std::string_view noun) {
    return counted(static_cast<std::int64_t>(count), noun);
  };
  const std::string looked_at = report.search
                                    ? many(report.search->states, "state")
                                    : many(report.stats.pairs_checked, "pair") + " checked";
  std::string line = std::string(name(report.verdict)) + ", " + looked_at + ", " +
                     many(report.findings.size(), "finding");
  if (report.stopped_at_max_findings) line += " (stopped at --max-findings)";
  if (report.search) {
    line += report.search->complete ? ", exhaustive" : ", not exhaustive";
    if (report.search->complete && report.search->reduction != Reduction::kNone) {
      line += " up to reordering";
    }
  }
  return line;
}

}  // namespace memverify
