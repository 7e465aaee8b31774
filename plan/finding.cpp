#include "plan/finding.h"

namespace memverify {

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kNotProven:
      return "not proven";
    case Severity::kWarning:
      return "warning";
  }
  return "";
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSafe:
      return "safe";
    case Verdict::kUnsafe:
      return "unsafe";
    case Verdict::kUnknown:
      return "unknown";
  }
  return "";
}

Verdict verdict_of(const std::vector<Finding>& findings) {
  Verdict verdict = Verdict::kSafe;
  for (const Finding& finding : findings) {
    switch (info(finding.rule).severity) {
      case Severity::kError:
        return Verdict::kUnsafe;
      case Severity::kNotProven:
        verdict = Verdict::kUnknown;
        break;
      case Severity::kWarning:
        break;
    }
  }
  return verdict;
}

}  // namespace memverify
