// tools/baseline.h -- findings that a project lives with for now, in a file that is reviewed.
//
//   {"memverify_baseline": 1, "accepted": [
//     {"fingerprint": "8f0c…", "reason": "…", "expires": "2027-03-31",
//      "rule": "MV101", "plan": "…", "message": "…"}]}
//
// `reason` is required and not empty; `expires` (the last day, UTC) may be left out; the other keys
// are for people. Docs: docs/ci.md.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"
#include "tools/report.h"

namespace memverify {

struct AcceptedFinding {
  std::string fingerprint;
  std::string reason;
  std::string expires;  ///< "YYYY-MM-DD"; "": never.
  std::string rule, plan, message;
  bool seen = false;  ///< By `Baseline::accept`.
};

class Baseline {
 public:
  /// Errors "baseline.format", with pointers; "json.syntax".
  static Result<Baseline> read(std::string_view text);
  std::string write() const;

  /// Enters the reasons of accepted findings into the report. `today` is "YYYY-MM-DD".
  void accept(Report& report, std::string_view today);
  /// The findings that are no warnings and not accepted, with `reason`.
  void add(const Report& report, const std::string& reason);
  /// True iff the entry has expired, or is of a plan that `accept` saw whole, without it.
  bool is_over(const AcceptedFinding& entry, std::string_view today) const;
  /// Takes out what is over.
  void shrink(std::string_view today);

  const std::vector<AcceptedFinding>& entries() const { return entries_; }
  static bool expired(const AcceptedFinding& entry, std::string_view today) {
    return !entry.expires.empty() && entry.expires < today;
  }

 private:
  std::vector<AcceptedFinding> entries_;
  std::set<std::string> whole_;  ///< Files.
};

/// True iff the reason says nothing.
bool is_blank(std::string_view text);

/// "2026-11-30", in UTC.
std::string today();

}  // namespace memverify
