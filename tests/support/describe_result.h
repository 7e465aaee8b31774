// tests/support/describe_result.h -- an engine's answer as text, for messages of tests.
#pragma once

#include <string>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify::testing {

/// `MV101 op1 op2 [also MV103] tensors x y storages s pool p`, without unnamed parts.
std::string describe(const Plan& plan, const Finding& finding);
/// The verdict and one line per finding.
std::string describe(const Plan& plan, const EngineResult& result);

/// True when the engine gave up: unknown for a reason that names no op.
bool refused(const EngineResult& result);

}  // namespace memverify::testing
