// tests/agreement/compare.h -- one engine's answer to a plan beside the reference's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "plan/finding.h"
#include "plan/plan.h"
#include "tests/support/random_plan.h"
#include "tests/support/reference.h"

namespace memverify::testing {

struct Engine {
  std::string name;
  std::function<EngineResult(const Plan&)> run;
  bool takes_consume = true;  ///< Decides plans whose waits take from semaphores.
};

constexpr ReferenceLimits kLimits{.max_states = 20'000, .max_assignments = 64};

/// A number from the environment, such as MEMVERIFY_AGREEMENT_SEEDS.
std::uint64_t setting(const char* name, std::uint64_t otherwise);

/// Both answers to one plan.
struct Comparison {
  bool decided = false;  ///< Both engines took the plan.
  EngineResult reference;
  EngineResult engine;
  std::string difference;
};

/// Fills all but `reference`, which must be there. Every witness is replayed.
void ask(const Plan& plan, const Engine& engine, Comparison& result);

/// A smaller plan with a difference of the same kind, and without rules that were not there before.
PlanJson shrunk(const PlanJson& json, const Comparison& original, const Engine& engine);

/// Writes the plan with both answers, and returns them.
std::string report(PlanJson json, const Engine& engine, const std::string& file);

}  // namespace memverify::testing
