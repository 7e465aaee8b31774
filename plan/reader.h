// plan/reader.h -- a plan from its JSON text (docs/format.md, docs/plan.schema.json).
//
// Streaming: the text is scanned once, straight into a PlanBuilder; there is no tree of the
// document. Lines and columns are computed only when there is something to report.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

/// Parses `text`; `file` is the name used in diagnostics. Never throws on bad input, and recurses
/// on its nesting no deeper than kMaxJsonDepth. Reports all independent errors (at most 100).
/// Cost: linear; about one allocation per 10^3 names.
Result<Plan> read_plan(std::string_view text, std::string_view file);

/// Reads the file at `path`, "-" for standard input. Error ids "file.open", "file.read" besides
/// those of `read_plan`.
Result<Plan> read_plan_file(const std::string& path);

}  // namespace memverify
