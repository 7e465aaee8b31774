// tools/report.h -- what memverify has to say about one plan; the report formats turn it into text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"
#include "sim/simulate.h"
#include "tools/diagnostics.h"
#include "tools/exit_code.h"
#include "verify/smt_timed.h"

namespace memverify {

/// How much a search looked at (`memverify simulate`).
struct SearchReport {
  std::uint64_t states = 0;  ///< The initial ones included.
  std::uint64_t transitions = 0;
  std::uint64_t runs = 0;          ///< Classes of runs, where the reduction goes by classes.
  std::uint64_t failing_runs = 0;  ///< Of random runs, which `runs` then counts.
  double random_bound = 0;  ///< A run shows a given bug at least so likely; 0: no random runs.
  std::uint64_t random_depth = 0;
  std::uint64_t seed = 0;
  std::string interleavings;  ///< Decimal; "" when they were not counted.
  std::string failing;
  Reduction reduction = Reduction::kNone;
  bool complete = false;  ///< Nothing was left out but what the reduction proves to be the same.
};

/// The outcome for one plan file: either `errors`, or a plan and a verdict on it.
struct Report {
  std::string file;                ///< As the user wrote it.
  std::vector<InputError> errors;  ///< Bad input; everything below is then empty.

  Plan plan;
  Verdict verdict = Verdict::kUnknown;
  std::vector<std::pair<std::string_view, Verdict>> engines;  ///< Those that ran, in that order.
  std::string_view decided_by;                                ///< The engine that the rest is from.
  std::vector<Finding> findings;                              ///< Sorted by rule, then ops.
  bool stopped_at_max_findings = false;
  VerifyStats stats;
  std::optional<SearchReport> search;
  std::optional<SmtTimedResult> timed;       ///< `verify --timed`.
  /// Of an unsafe plan with several errors: the one wait that ends them all, as a sentence.
  std::string one_wait;
  std::size_t witnesses = 0;                 ///< Findings that come with a run.
  std::size_t witnesses_replayed = 0;        ///< Of those, how many the simulator was asked about.
  std::vector<std::string> internal_errors;  ///< Bugs met on the way, a sentence each.
  std::vector<std::string> imported;  ///< What an importer took for granted, a sentence each.
  /// Why findings are lived with, by their index (tools/baseline.h).
  std::map<std::size_t, std::string> accepted;

  /// Of one of `findings`; nullptr if it is not accepted.
  const std::string* accepted_reason(const Finding& finding) const;
};

/// That of the verdict that the findings would give which are not accepted.
ExitCode exit_code(const Report& report);

/// Steps of a witness that a report prints: the last ones, at most this many.
inline constexpr std::size_t kMostSteps = 1000;

/// "unsafe, 12 pairs checked, 2 findings", then ", 1 accepted" if so; of a search "safe, 729
/// states, 0 findings, exhaustive"; or "error, 3 errors" for bad input. Stable.
std::string outcome_line(const Report& report);

/// `timed` beside the verdict: "safe under the stated durations and delays, though not in general".
std::string timed_words(const Report& report);

/// What a *safe* takes for granted.
inline constexpr std::string_view kAssumption =
    "what a completed op wrote is visible to everything that starts later";

}  // namespace memverify
