// tools/load.h -- a plan from a file, or what is wrong with the file, ready to be printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "tools/diagnostics.h"

namespace memverify {

struct Loaded {
  std::optional<Plan> plan;  ///< Unless there are errors.
  std::vector<InputError> errors;
};

/// Reads the plan at `path`, "-" for standard input. A plan that reads well must also satisfy
/// `check`, if given, which says what else is wrong with it by JSON pointer.
Loaded load_plan(const std::string& path, std::vector<Diagnostic> (*check)(const Plan&) = nullptr);

}  // namespace memverify
