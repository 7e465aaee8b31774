#include "planner/gap_finder.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {

Placement place_by_conflicts(const Problem& problem, const StrategyOptions&) {
  return place_in_order(problem, Neighbors(problem), order_by_conflicts(problem), Fit::kLowest);
}

}  // namespace memverify
