#include "planner/gap_finder.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {

Placement place_best_fit(const Problem& problem, const StrategyOptions&) {
  return place_in_order(problem, Neighbors(problem), order_by_first_use(problem),
                        Fit::kSmallestGap);
}

}  // namespace memverify
