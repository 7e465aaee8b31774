// tests/support/random_patterns.h -- loops as people write them, to be mixed into random plans.
#pragma once

#include "tests/support/random_plan.h"

namespace memverify::testing {

/// Adds one well synchronised loop of two or three ops, with storages, tensors and queues of its
/// own: a ring of slots, a carried value, a sum over the iterations, a prologue.
void add_random_pattern(PlanJson& plan, Draw& draw);

}  // namespace memverify::testing
