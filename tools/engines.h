// tools/engines.h -- the table of decision procedures that `memverify verify` can ask.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

struct EngineOptions {
  std::size_t max_findings = 100;  ///< >= 1.
};

struct Engine {
  std::string_view name;
  std::string_view help;  ///< One line.
  EngineResult (*run)(const Plan& plan, const EngineOptions& options);
};

std::span<const Engine> engines();

/// The engines that `--engine name` asks for: one, or for "auto" those that suit every plan. Empty
/// when there is no such name.
std::vector<const Engine*> select_engines(std::string_view name);

}  // namespace memverify
