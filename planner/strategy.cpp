#include "planner/strategy.h"

#include <algorithm>
#include <array>

#include "planner/strategies.h"

namespace memverify {
namespace {

constexpr auto kStrategies = std::to_array<Strategy>({
    {"none", "every buffer its own bytes", place_none},
    {"greedy-death", "by last use, lowest offset", place_greedy_death},
    {"first-fit", "by first use, lowest offset", place_first_fit},
    {"best-fit", "by first use, smallest gap", place_best_fit},
    {"by-size", "largest first, smallest gap", place_by_size},
    {"by-conflicts", "most clashes first, lowest offset", place_by_conflicts},
    {"optimal", "exact search from below, stopped by time", place_optimal},
});

}  // namespace

std::span<const Strategy> strategies() { return kStrategies; }

const Strategy* find_strategy(std::string_view name) {
  const auto* found = std::ranges::find(kStrategies, name, &Strategy::name);
  return found == kStrategies.end() ? nullptr : found;
}

}  // namespace memverify
