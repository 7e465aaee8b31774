// tools/engines.h -- the table of decision procedures that `memverify verify` can ask.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "plan/finding.h"
#include "plan/layout.h"
#include "plan/plan.h"

namespace memverify {

struct EngineOptions {
  std::size_t max_findings = 100;  ///< >= 1.
  double max_seconds = 60;         ///< Of wall time, for an engine that searches; 0: no limit.
};

struct Engine {
  std::string_view name;
  std::string_view help;  ///< One line.
  /// `least`: the plan's layout for the least values of its symbols, if it was made already.
  EngineResult (*run)(const Plan& plan, const EngineOptions& options, const Layout* least);
};

std::span<const Engine> engines();

/// Whom to ask, the cheapest first.
struct EngineChoice {
  std::vector<const Engine*> engines;
  bool all = false;  ///< All of them, to compare; otherwise until one has decided the plan.
};

/// What `--engine name` asks for: one engine, or every one for "auto" and "all". No engine when
/// there is no such name.
EngineChoice select_engines(std::string_view name);

}  // namespace memverify
