// tools/importers.h -- plans from the files of other tools.
//
// An importer is one function and one row in the table of importers.cpp. It reads bytes it cannot
// trust: whatever they are, it returns a plan or says what is wrong with them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

struct Imported {
  Plan plan;
  /// What the file does not say and the plan takes for granted, a sentence each. The plan carries
  /// them too, as `x-assumptions`.
  std::vector<std::string> assumptions;
};

struct Importer {
  std::string_view name;   ///< As typed: `memverify import NAME FILE`.
  std::string_view help;   ///< One line.
  std::string_view files;  ///< Which files it reads, for people: "*_c_info.json".
  /// `file` is the name for diagnostics. Errors: "json.syntax", "import.*" with a JSON pointer into
  /// the file, and what PlanBuilder reports, with a pointer into the plan.
  Result<Imported> (*read)(std::string_view text, std::string_view file);
};

std::span<const Importer> importers();
/// nullptr when there is none.
const Importer* find_importer(std::string_view name);

/// The report of ST Edge AI (STM32Cube.AI) on the C code it generates.
Result<Imported> import_st_edge_ai(std::string_view text, std::string_view file);

}  // namespace memverify
