// tools/show_text.h -- a plan as readable text: what is where, and who runs when.
#pragma once

#include <string>

#include "plan/plan.h"

namespace memverify {

/// Pools, storages with their address ranges, tensors as trees of views, queues with their commands
/// in program order, boundary. Expressions stay as written. Cost: linear, but for the padding of
/// columns.
std::string show_plan(const Plan& plan);

}  // namespace memverify
