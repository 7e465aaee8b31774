// tests/support/reference_static.h -- the faults that need no run, byte by byte.
#pragma once

#include "tests/support/reference_bytes.h"
#include "tests/support/reference_findings.h"

namespace memverify::testing {

/// What plan/faults.h promises, under one choice of symbol values. An MV107 of an unknown command
/// is MV201.
void reference_static_faults(const Sizes& sizes, FindingSet& findings);

}  // namespace memverify::testing
