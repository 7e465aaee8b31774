// tools/import_options.h -- what the command line says of a file that another tool wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/importers.h"

namespace CLI {
class App;
}

namespace memverify {

struct ImportRequest {
  std::string from;  ///< The name of an importer, "plan", or "": the file tells by its name.
  ImportOptions options;
  bool assumptions = false;  ///< Print them.
};

/// Adds `--from FORMAT`.
void add_from_option(CLI::App& app, ImportRequest& request);
/// Adds the options of all importers, and `--assumptions`.
void add_import_options(CLI::App& app, ImportRequest& request);

/// The options that were given, as they are typed.
std::vector<std::string_view> given(const ImportOptions& options);

/// For standard error; "" when they were not asked for, or there are none.
std::string assumptions_text(const ImportRequest& request,
                             const std::vector<std::string>& assumptions);

}  // namespace memverify
