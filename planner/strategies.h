// planner/strategies.h -- what the table of strategy.cpp lists; each in a file of its own.
#pragma once

#include "planner/strategy.h"

namespace memverify {

Placement place_none(const Problem& problem, const StrategyOptions& options);
Placement place_greedy_death(const Problem& problem, const StrategyOptions& options);
Placement place_first_fit(const Problem& problem, const StrategyOptions& options);
Placement place_best_fit(const Problem& problem, const StrategyOptions& options);
Placement place_by_size(const Problem& problem, const StrategyOptions& options);
Placement place_by_conflicts(const Problem& problem, const StrategyOptions& options);
Placement place_coloring(const Problem& problem, const StrategyOptions& options);
Placement place_bitset(const Problem& problem, const StrategyOptions& options);
Placement place_size_classes(const Problem& problem, const StrategyOptions& options);
Placement place_hill_climb(const Problem& problem, const StrategyOptions& options);
Placement place_auto(const Problem& problem, const StrategyOptions& options);
Placement place_optimal(const Problem& problem, const StrategyOptions& options);

GraphClashes clashes_by_program_order(const ApartPlan& apart, const GraphClashes& right);
GraphClashes clashes_by_direct_users(const ApartPlan& apart, const GraphClashes& right);

}  // namespace memverify
