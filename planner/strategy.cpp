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
    {"coloring", "a block for each colour of the clash graph", place_coloring},
    {"bitset", "largest first, into blocks with bit sets of their steps", place_bitset},
    {"size-classes", "blocks of 64 KiB, 1 MiB, 8 MiB, as an online allocator", place_size_classes},
    {"hill-climb", "changes the order of placing as long as there is time", place_hill_climb},
    {"optimal", "exact search, stopped by time", place_optimal},
    {"auto", "the crowded steps first, exact search, climbing: the best", place_auto},
});

}  // namespace

std::span<const Strategy> strategies() { return kStrategies; }

const Strategy* find_strategy(std::string_view name) {
  const auto* found = std::ranges::find(kStrategies, name, &Strategy::name);
  return found == kStrategies.end() ? nullptr : found;
}

}  // namespace memverify
