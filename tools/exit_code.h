// tools/exit_code.h -- what `memverify` exits with (docs/format.md, "Verdicts and exit codes").
#pragma once

#include "plan/finding.h"

namespace memverify {

enum class ExitCode : int {
  kSafe = 0,  ///< Also help, version and everything that is no verdict and went well.
  kUnsafe = 1,
  kBadInput = 2,  ///< Bad input or usage, no op touches a byte, or the output cannot be written.
  kUnknown = 3,
  kInternal = 4,  ///< A bug in memverify: a run that does not replay, engines that disagree.
};

ExitCode exit_code(Verdict verdict);

/// The worse of two, in the order 1, 4, 2, 3, 0.
ExitCode worse(ExitCode a, ExitCode b);

}  // namespace memverify
