// tools/ask_engines.h -- one verdict on a plan from one engine or several.
#pragma once

#include <string>

#include "tools/engines.h"
#include "tools/report.h"

namespace memverify {

/// What to do with a plan on which two engines contradict each other: keeps it somewhere, and says
/// where, as the end of a sentence.
using KeepDisagreement = std::string (*)(const Plan& plan, const Engine& one, const Engine& other,
                                         const EngineOptions& options);

/// Asks the engines about `report.plan` in their order, and fills the verdict, the findings and
/// `report.engines`. Unless all are to run, the first that leaves nothing for another one to decide
/// is the last. The result is that of the first engine that leaves nothing open, else of the first.
/// Two engines of which one says *safe* and the other *unsafe* are an internal error. `least`: as
/// for `Engine::run`.
void ask_engines(Report& report, const EngineChoice& choice, const EngineOptions& options,
                 KeepDisagreement keep = nullptr, const Layout* least = nullptr);

/// True iff one is *safe* and the other *unsafe*.
bool contradict(Verdict a, Verdict b);

/// True iff the engine met a feature or a limit at which it ends, in contrast to an unknown op, of
/// which nobody can say more.
bool gave_up(const EngineResult& result);

}  // namespace memverify
