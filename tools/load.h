// tools/load.h -- a plan from a file, or what is wrong with the file, ready to be printed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "tools/diagnostics.h"
#include "tools/import_options.h"

namespace memverify {

struct Loaded {
  std::optional<Plan> plan;  ///< Unless there are errors.
  std::vector<InputError> errors;
  bool is_imported = false;              ///< By an importer.
  bool takes_dims = false;               ///< By one that has the option --dim.
  std::vector<std::string> assumptions;  ///< Of that.
};

/// Reads the plan at `path`, "-" for standard input: a plan file, or what an importer makes of the
/// file of another tool. A plan that reads well must also satisfy `check`, if given, which says
/// what else is wrong with it by JSON pointer. Errors: those of the reader and of the importer, and
/// "import.option" for an option that the file's format does not have.
Loaded load_plan(const std::string& path,
                 const std::function<std::vector<Diagnostic>(const Plan&)>& check = {},
                 const ImportRequest& request = {});

}  // namespace memverify
