// verify/sync_path.h -- by which commands one waits for another.
#pragma once

#include <vector>

#include "verify/order.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {

/// Given that complete(first) happens-before start(second): commands in order, each of which waits
/// for the one before, first and second left out, as few as there can be. What merely stands
/// between two commands of a queue that completes in order is left out. Where a wait counts, one of
/// the completions that it cannot do without stands for all. Empty: the queue alone, or not found
/// among 10^5 commands. Cost: linear in the commands between the two.
std::vector<Cmd> sync_path(const Program& program, const Walk& walk, const Order& order, Cmd first,
                           Cmd second);

}  // namespace memverify
