// tools/fuzz_sources.h -- graphs to fuzz from: plans of a corpus, imported models.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace memverify {

struct FuzzSources {
  std::vector<Plan> graphs;        ///< Without addresses; by name.
  std::vector<std::string> names;  ///< The files' names.
  std::size_t skipped = 0;         ///< Files that are no plan, or have too many ops.
};

/// Sources have at most so many ops.
inline constexpr std::size_t kMostSourceOps = 100;

/// All plans and files of other tools in these folders, and in those within; or these files.
/// Returns
/// "" or what is wrong.
std::string load_sources(const std::vector<std::string>& paths, FuzzSources& sources);

}  // namespace memverify
