// tools/refuse.h -- how a command ends that cannot read its file.
#pragma once

#include "tools/console.h"
#include "tools/report.h"

namespace memverify {

/// Bad input, for a command that reports on one file: the errors on standard error, the outcome on
/// standard output. Returns the exit code.
ExitCode refuse(const Report& report, bool json, ColorMode color, StandardOutput& output);

}  // namespace memverify
