#include "tools/exit_code.h"

namespace memverify {
namespace {

int badness(ExitCode code) {
  switch (code) {
    case ExitCode::kUnsafe:
      return 4;
    case ExitCode::kInternal:
      return 3;
    case ExitCode::kBadInput:
      return 2;
    case ExitCode::kUnknown:
      return 1;
    case ExitCode::kSafe:
      return 0;
  }
  return 0;
}

}  // namespace

ExitCode exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSafe:
      return ExitCode::kSafe;
    case Verdict::kUnsafe:
      return ExitCode::kUnsafe;
    case Verdict::kUnknown:
      return ExitCode::kUnknown;
  }
  return ExitCode::kInternal;
}

ExitCode worse(ExitCode a, ExitCode b) { return badness(a) < badness(b) ? b : a; }

}  // namespace memverify
