// tools/plan_csv.h -- `memverify plan FILE.csv`: packing problems that are tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/strategy.h"
#include "tools/exit_code.h"

namespace memverify {

struct PlanCsvOptions {
  std::string strategy = "auto";
  std::optional<std::int64_t> capacity;  ///< Bytes.
  std::string output;                    ///< Path, "-" for standard output; empty: none.
  StrategyOptions search;
};

/// Places the problem in the file at `path` ("-": standard input), prints a report line and writes
/// the table with its offsets. kUnsafe, and no table, if it does not fit the capacity.
ExitCode plan_csv(const std::string& path, const PlanCsvOptions& options);

}  // namespace memverify
