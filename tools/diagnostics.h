// tools/diagnostics.h -- bad input for people: what is wrong, where, and the line it is in.
#pragma once

#include <span>
#include <string>

#include "plan/result.h"
#include "tools/console.h"

namespace memverify {

/// Each diagnostic with file:line:column and, if the file can be read again, an excerpt of the line
/// with a caret. Cost: reads the file up to the last line named.
std::string text_diagnostics(std::span<const Diagnostic> diagnostics, const Style& style);

}  // namespace memverify
