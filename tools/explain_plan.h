// tools/explain_plan.h -- `memverify explain PLAN --storage …`: why bytes of a plan are held.
#pragma once

#include <cstdint>
#include <string>

#include "tools/console.h"
#include "tools/exit_code.h"

namespace memverify {

struct ExplainPlanOptions {
  std::string file;
  std::string storage, tensor, op;  ///< One of them, or
  bool peak = false;                ///< … this.
  std::string pool;                 ///< Of the peak; empty: every pool.
  std::int64_t iteration = 0;
  std::string format = "text";  ///< text, dot or json.
  ColorMode color = ColorMode::kAuto;
};

/// Prints; bad names are a usage error that knows the nearest name.
ExitCode explain_plan(const ExplainPlanOptions& options);

}  // namespace memverify
