#include "tools/engines.h"

#include <algorithm>
#include <array>

#include "sim/simulate.h"
#include "verify/smt_verify.h"
#include "verify/symbol_search.h"
#include "verify/verify.h"

namespace memverify {
namespace {

EngineResult run_happens_before(const Plan& plan, const EngineOptions& options,
                                const Layout* least) {
  return verify_happens_before(plan, HbOptions{.max_findings = options.max_findings}, least);
}

EngineResult run_simulator(const Plan& plan, const EngineOptions& options,
                           const Layout* /*least*/) {
  SimStats stats;
  return simulate(plan,
                  SimOptions{.reduction = Reduction::kClasses,
                             .max_findings = options.max_findings,
                             .max_seconds = options.max_seconds},
                  stats);
}

/// Where symbols have too many values to go through, one of each class of values is decided: by
/// clocks, and by the solver where clocks do not decide it.
EngineResult run_solver(const Plan& plan, const EngineOptions& options, const Layout* /*least*/) {
  const SmtOptions smt{.max_findings = options.max_findings, .max_seconds = options.max_seconds};
  if (!has_more_values(plan, smt.max_valuations)) return verify_smt(plan, smt);
  const SymbolOptions all{.max_findings = options.max_findings, .max_seconds = options.max_seconds};
  return verify_all_symbols(plan, all, [&](const Plan& one) {
    EngineResult result = run_happens_before(one, options, nullptr);
    const bool decided = std::ranges::none_of(
        result.findings, [](const Finding& f) { return f.rule == Rule::kNotProven; });
    return decided ? result : verify_smt(one, smt);
  });
}

}  // namespace

std::span<const Engine> engines() {
  static constexpr std::array kEngines = {
      Engine{.name = "hb", .help = "happens-before, by clocks alone", .run = run_happens_before},
      Engine{.name = "smt", .help = "the Z3 solver, by formulas over all runs", .run = run_solver},
      Engine{.name = "sim", .help = "the simulator, by executing runs", .run = run_simulator},
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
