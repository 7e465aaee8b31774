// plan/writer.h -- a plan as JSON text that `read_plan` reads back to the same plan.
#pragma once

#include <string>

#include "plan/plan.h"

namespace memverify {

/// One line per pool, queue, storage, tensor and op; keys in the order of docs/format.md; defaults
/// left out; extras kept. Ends in a newline.
std::string write_plan(const Plan& plan);

/// Replaces the file at `path` by `text` in one step (written beside it, then renamed); "-" writes
/// to standard output. Returns "" or what went wrong; on failure the old file is untouched.
std::string replace_file(const std::string& path, const std::string& text);

}  // namespace memverify
