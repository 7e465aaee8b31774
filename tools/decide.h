// tools/decide.h -- one verdict on a plan from one engine or several.
#pragma once

#include <span>

#include "tools/engines.h"
#include "tools/report.h"

namespace memverify {

/// Asks the engines about `report.plan` in their order, and fills the verdict, the findings and
/// `report.engines`. Unless all are to run, the first that leaves nothing for another one to decide
/// is the last. The result is that of the first engine that leaves nothing open, else of the first.
/// Two engines of which one says *safe* and the other *unsafe* are an internal error; then
/// the plan, made as small as ten seconds allow, is written to `memverify-disagreement.json` in the
/// working directory.
void decide(Report& report, const EngineChoice& choice, const EngineOptions& options);

/// True iff the engine met a feature or a limit at which it ends, in contrast to an unknown op, of
/// which nobody can say more.
bool gave_up(const EngineResult& result);

}  // namespace memverify
