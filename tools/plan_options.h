// tools/plan_options.h -- the command line of `memverify plan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/suggest.h"
#include "plan/words.h"
#include "planner/plan_graph.h"
#include "planner/strategy.h"
#include "tools/console.h"
#include "tools/import_options.h"
#include "tools/whole_number.h"

namespace memverify {

struct PlanOptions {
  std::string file;
  std::string output;  ///< "": nothing is written.
  const Strategy* strategy = nullptr;
  std::vector<std::string> pools;
  std::vector<std::string> available;  ///< "N" or "POOL=N".
  std::vector<std::string> buckets;    ///< "SYMBOL=N,N,…".
  std::string lookup;                  ///< A cache file.
  std::vector<std::string> values;     ///< "SYMBOL=N".
  std::optional<std::int64_t> capacity;
  std::optional<std::int64_t> slots;
  double seconds = 10;
  ImportRequest import;
  bool is_imported = false;  ///< An importer made the graph of the file, once it is read.
  bool takes_dims = false;   ///< That importer has the option --dim.
  std::vector<std::int64_t> blocks = {kStandardBlocks.begin(), kStandardBlocks.end()};  ///< Sorted.
  std::string branches;  ///< "union" or "per-path"; "": union, without comparison.
  bool degrade = false;
  bool allow_unsafe = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

/// What the options ask of the planner for `graph`. An error message where they name what the graph
/// has not, "" otherwise.
std::string settle_options(const Plan& graph, const PlanOptions& options, PlanGraphOptions& how);

/// The id of `name` in `table`; or kNone, and in `wrong` a message with the nearest name.
template <typename Id, typename T>
Id find_named(const Table<Id, T>& table, std::string_view name, std::string_view kind,
              std::string& wrong) {
  Suggester suggester(name);
  for (const Id id : ids(table)) {
    if (table[id].name == name) return id;
    suggester.consider(table[id].name);
  }
  wrong = "no " + std::string(kind) + " " + quoted(name) + suggester.hint();
  return kNone<Id>;
}

}  // namespace memverify
