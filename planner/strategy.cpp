#include "planner/strategy.h"

#include <algorithm>
#include <array>

#include "planner/strategies.h"

namespace memverify {
namespace {

/// The unsafe ones last.
constexpr auto kStrategies = std::to_array<Strategy>({
    {"none", "every buffer its own bytes", place_none},
    {"greedy-death", "by last use, lowest offset", place_greedy_death},
    {"first-fit", "by first use, lowest offset", place_first_fit},
    {"best-fit", "by first use, smallest gap", place_best_fit},
    {"by-size", "largest first, smallest gap", place_by_size},
    {"by-conflicts", "most clashes first, lowest offset", place_by_conflicts},
    {"coloring", "a block for each colour of the clash graph", place_coloring},
    {"bitset", "largest first, lowest offset, by bit sets of steps", place_bitset},
    {"size-classes", "in blocks of --blocks, as an online allocator would", place_size_classes},
    {"hill-climb", "takes out what is at the peak, puts it back lower, while there is time",
     place_hill_climb},
    {"optimal", "exact search, stopped by time", place_optimal},
    {"auto", "the crowded steps first, exact search, climbing: the best", place_auto},
    {"unsafe-program-order", "by-size, where op numbers say who may share", place_by_size,
     clashes_by_program_order},
    {"unsafe-direct-users", "by-size, where what is read through a view is forgotten",
     place_by_size, clashes_by_direct_users},
});

const Strategy* first_unsafe() { return std::ranges::find_if_not(kStrategies, &Strategy::is_safe); }

}  // namespace

std::span<const Strategy> strategies() { return {kStrategies.begin(), first_unsafe()}; }

std::span<const Strategy> unsafe_strategies() { return {first_unsafe(), kStrategies.end()}; }

const Strategy* find_strategy(std::string_view name) {
  const auto* found = std::ranges::find(kStrategies, name, &Strategy::name);
  return found == kStrategies.end() ? nullptr : found;
}

}  // namespace memverify
