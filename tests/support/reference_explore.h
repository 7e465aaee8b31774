// tests/support/reference_explore.h -- every reachable state of one program.
#pragma once

#include <cstdint>

#include "tests/support/reference_findings.h"
#include "tests/support/reference_program.h"

namespace memverify::testing {

/// What the runs of the program show. False in `complete` when there are more than `max_states`
/// states; then `findings` is worth nothing.
struct Exploration {
  bool complete = true;
  FindingSet findings;
  std::uint64_t states = 0;
};

/// Visits the reachable states twice: first without versions, which tells who may be open together
/// with whom; then with the versions of the bytes on which nobody races.
Exploration explore(const Program& program, std::uint64_t max_states);

}  // namespace memverify::testing
