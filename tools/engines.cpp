#include "tools/engines.h"

#include <array>

#include "sim/simulate.h"
#include "verify/smt_verify.h"
#include "verify/verify.h"

namespace memverify {
namespace {

EngineResult run_happens_before(const Plan& plan, const EngineOptions& options) {
  return verify_happens_before(plan, HbOptions{.max_findings = options.max_findings});
}

EngineResult run_simulator(const Plan& plan, const EngineOptions& options) {
  SimStats stats;
  return simulate(plan,
                  SimOptions{.reduction = Reduction::kClasses,
                             .max_findings = options.max_findings,
                             .max_seconds = options.max_seconds},
                  stats);
}

EngineResult run_solver(const Plan& plan, const EngineOptions& options) {
  return verify_smt(
      plan, SmtOptions{.max_findings = options.max_findings, .max_seconds = options.max_seconds});
}

}  // namespace

std::span<const Engine> engines() {
  static constexpr std::array kEngines = {
      Engine{.name = "hb", .help = "happens-before, by clocks alone", .run = run_happens_before},
      Engine{.name = "sim", .help = "the simulator, by executing runs", .run = run_simulator},
      Engine{.name = "smt", .help = "the Z3 solver, by formulas over all runs", .run = run_solver},
  };
  return kEngines;
}

EngineChoice select_engines(std::string_view name) {
  EngineChoice choice{.all = name == "all"};
  for (const Engine& engine : engines()) {
    if (choice.all || name == "auto" || engine.name == name) choice.engines.push_back(&engine);
  }
  return choice;
}

}  // namespace memverify
