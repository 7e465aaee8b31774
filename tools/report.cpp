#include "tools/report.h"

#include "plan/words.h"

namespace memverify {

namespace {

/// The verdict without the findings that are accepted. What was not looked at is not.
Verdict left_verdict(const Report& report) {
  if (report.accepted.empty() || report.stopped_at_max_findings) return report.verdict;
  std::vector<Finding> left;
  for (const Finding& finding : report.findings) {
    if (report.accepted_reason(finding) == nullptr) left.push_back(finding);
  }
  return verdict_of(left);
}

}  // namespace

const std::string* Report::accepted_reason(const Finding& finding) const {
  const auto found = accepted.find(static_cast<std::size_t>(&finding - findings.data()));
  return found == accepted.end() ? nullptr : &found->second;
}

ExitCode exit_code(const Report& report) {
  if (!report.errors.empty()) return ExitCode::kBadInput;
  const ExitCode code = exit_code(left_verdict(report));
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
  if (!report.accepted.empty()) line += ", " + std::to_string(report.accepted.size()) + " accepted";
  if (report.search) {
    line += report.search->complete ? ", exhaustive" : ", not exhaustive";
    if (report.search->complete && report.search->reduction != Reduction::kNone) {
      line += " up to reordering";
    }
  }
  return line;
}

std::string timed_words(const Report& report) {
  const SmtTimedResult& timed = *report.timed;
  const std::string where = " under the stated durations and delays";
  switch (timed.verdict) {
    case Verdict::kSafe:
      switch (report.verdict) {
        case Verdict::kSafe:
          return "safe" + where + ", as in general";
        case Verdict::kUnsafe:
          return "safe" + where + ", though not in general";
        case Verdict::kUnknown:
          return "safe" + where + "; in general that is not proven";
      }
      break;
    case Verdict::kUnsafe:
      return "unsafe" + where + ", too: " + timed.fault + ", with " +
             lateness_words(report.plan, timed);
    case Verdict::kUnknown:
      return "not proven" + where + ": " + timed.reason;
  }
  return "";
}

}  // namespace memverify
