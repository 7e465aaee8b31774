#include <algorithm>

#include "planner/strategies.h"

namespace memverify {

/// Half of the time for the exact search, which starts from the best list, and the rest for
/// climbing where that has no proof.
Placement place_auto(const Problem& problem, const StrategyOptions& options) {
  StrategyOptions half = options;
  half.max_seconds = options.max_seconds / 2;
  half.max_nodes = (options.max_nodes + 1) / 2;
  Placement best = place_optimal(problem, half);
  const bool is_enough = best.is_optimal || (problem.capacity && best.peak <= *problem.capacity);
  if (is_enough) return best;
  Placement climbed = place_hill_climb(problem, half);
  climbed.nodes += best.nodes;
  if (climbed.peak < best.peak) return climbed;
  best.nodes = climbed.nodes;
  return best;
}

}  // namespace memverify
