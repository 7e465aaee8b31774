// planner/orders.h -- orders of buffers that strategies start from. Ties go by index.
#pragma once

#include <vector>

#include "planner/problem.h"

namespace memverify {

/// By first use, then by last; by index if the problem has no live ranges.
std::vector<BufferIndex> order_by_first_use(const Problem& problem);
/// By last use, then by first; by index if the problem has no live ranges.
std::vector<BufferIndex> order_by_last_use(const Problem& problem);
/// The largest first, then those that live longest.
std::vector<BufferIndex> order_by_size(const Problem& problem);
/// Those with most clashes first, then the largest.
std::vector<BufferIndex> order_by_conflicts(const Problem& problem);

}  // namespace memverify
