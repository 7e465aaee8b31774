#include <algorithm>

#include "planner/core_first.h"
#include "planner/optimal.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

StrategyOptions part_of(const StrategyOptions& options, unsigned parts) {
  StrategyOptions part = options;
  part.max_seconds /= parts;
  part.max_nodes = (options.max_nodes + parts - 1) / parts;
  return part;
}

}  // namespace

/// A quarter of the time for cores, half for the exact search, which starts from the best list, and
/// the rest for climbing, each where those before have no proof. Where what the cores give is
/// enough the lists, which cost little, may still be lower.
Placement place_auto(const Problem& problem, const StrategyOptions& options) {
  std::optional<Placement> best = place_core_first(problem, part_of(options, 4));
  const auto consider = [&](Placement other) {
    other.nodes += best ? best->nodes : 0;
    if (!best || other.peak < best->peak || other.is_optimal) {
      best = std::move(other);
    } else {
      best->nodes = other.nodes;
    }
  };
  if (best && best->is_optimal) return *std::move(best);
  const bool is_enough = best && problem.is_enough(best->peak);
  consider(is_enough ? best_list_placement(problem) : place_optimal(problem, part_of(options, 2)));
  if (!best->is_optimal && !problem.is_enough(best->peak)) {
    consider(place_hill_climb(problem, part_of(options, 4)));
  }
  return *std::move(best);
}

}  // namespace memverify
