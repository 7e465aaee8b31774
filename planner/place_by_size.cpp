#include "planner/gap_finder.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {

Placement place_by_size(const Problem& problem, const StrategyOptions&) {
  return place_in_order(problem, Neighbors(problem), order_by_size(problem), Fit::kSmallestGap);
}

}  // namespace memverify
