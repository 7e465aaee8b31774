#include <algorithm>

#include "planner/core_first.h"
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
/// the rest for climbing, each where those before have no proof.
Placement place_auto(const Problem& problem, const StrategyOptions& options) {
  std::optional<Placement> best = place_core_first(problem, part_of(options, 4));
  const auto is_enough = [&] {
    return best && (best->is_optimal || (problem.capacity && best->peak <= *problem.capacity));
  };
  const auto consider = [&](Placement other) {
    other.nodes += best ? best->nodes : 0;
    if (!best || other.peak < best->peak || other.is_optimal) {
      best = std::move(other);
    } else {
      best->nodes = other.nodes;
    }
  };
  if (!is_enough()) consider(place_optimal(problem, part_of(options, 2)));
  if (!is_enough()) consider(place_hill_climb(problem, part_of(options, 4)));
  return *std::move(best);
}

}  // namespace memverify
