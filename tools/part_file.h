// tools/part_file.h -- what one part of a search saw, in a file, until all are joined.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"
#include "plan/result.h"
#include "sim/parts.h"

namespace memverify {

/// What all parts of one search have in common: the plan's meaning, and the options that decide
/// what is searched.
std::string search_key(const Plan& plan, const SimOptions& options);

/// A line of JSON. Same part, same text.
std::string write_part(const SimPart& part, const std::string& key);

/// The part in `text`, the contents of `file`. Errors: "json.syntax", "import.*" (a value is not
/// what it should be), "parts.damaged" (the text is not as it was written), "parts.mixed" (of
/// another plan, or searched with other options, than `key` says).
Result<SimPart> read_part(std::string_view text, const std::string& file, const std::string& key);

}  // namespace memverify
