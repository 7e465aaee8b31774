// tools/report.h -- what memverify has to say about one plan; the report formats turn it into text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"
#include "tools/diagnostics.h"
#include "tools/exit_code.h"

namespace memverify {

/// The outcome for one plan file: either `errors`, or a plan and a verdict on it.
struct Report {
  std::string file;                ///< As the user wrote it.
  std::vector<InputError> errors;  ///< Bad input; everything below is then empty.

  Plan plan;
  Verdict verdict = Verdict::kUnknown;
  std::vector<std::pair<std::string_view, Verdict>> engines;  ///< Those that ran, in that order.
  std::vector<Finding> findings;                              ///< Sorted by rule, then ops.
  bool stopped_at_max_findings = false;
  VerifyStats stats;
  std::size_t witnesses = 0;                 ///< Findings that come with a run.
  std::size_t witnesses_replayed = 0;        ///< Of those, how many the simulator was asked about.
  std::vector<std::string> internal_errors;  ///< Bugs met on the way, a sentence each.
};

ExitCode exit_code(const Report& report);

/// Steps of a witness that a report prints: the last ones, at most this many.
inline constexpr std::size_t kMostSteps = 1000;

/// "unsafe, 12 pairs checked, 2 findings", or "error, 3 errors" for bad input. Stable.
std::string outcome_line(const Report& report);

/// What a *safe* takes for granted.
inline constexpr std::string_view kAssumption =
    "what a completed op wrote is visible to everything that starts later";

}  // namespace memverify
