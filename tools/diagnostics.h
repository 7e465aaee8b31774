// tools/diagnostics.h -- bad input for people: what is wrong, where, and the line it is in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"
#include "tools/style.h"

namespace memverify {

/// A diagnostic with the part of its line around its column, as far as there is one.
struct InputError {
  Diagnostic diagnostic;
  std::string before;  ///< The line up to the column, its beginning possibly left out …
  bool cut = false;    ///< … if this is set.
  std::string after;   ///< From the column on.
};

/// Adds the excerpts. `text` is what was read; diagnostics that have a JSON pointer and no line get
/// their place from it, and `file` for a name. Cost: one scan of the text.
std::vector<InputError> with_excerpts(std::vector<Diagnostic> diagnostics, std::string_view text,
                                      std::string_view file);

/// Each error with file:line:column, its line and a caret under the column.
std::string text_errors(std::span<const InputError> errors, const Style& style);

}  // namespace memverify
