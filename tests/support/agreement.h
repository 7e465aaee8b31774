// tests/support/agreement.h -- where an engine's answer departs from the reference.
#pragma once

#include <string>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify::testing {

/// "" when they agree, else one line per difference. Compared are the verdict; races by rule and
/// ops; every other error by rule and what it must name. Left open, because the format does: which
/// of several ops an MV104 names beside its reader, which of two tensors that share bytes an MV106
/// names, which waiting commands an MV111 names. MV201 and warnings about sync are not compared.
std::string disagreement(const Plan& plan, const EngineResult& reference,
                         const EngineResult& engine);

/// True when the engine says of something, named by no op, that it does not decide it: then only
/// its races may be compared.
bool undecided(const EngineResult& engine);

}  // namespace memverify::testing
