// planner/strategy.h -- the ways to place buffers, one file each, one table.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plan/result.h"
#include "planner/problem.h"

namespace memverify {

struct ApartPlan;
struct GraphClashes;

inline constexpr std::array<std::int64_t, 3> kStandardBlocks = {64 << 10, 1 << 20, 8 << 20};

struct StrategyOptions {
  double max_seconds = 10;  ///< Of wall time, for those that search; the result is the best so far.
  std::uint64_t max_nodes =
      0;  ///< Of a search; 0: no limit. Unlike seconds, this is deterministic.
  std::uint64_t seed = 1;
  /// Of the blocks of `size-classes`: bytes, ascending, > 0, at least one. Not owned.
  std::span<const std::int64_t> block_bytes = kStandardBlocks;
};

/// A placement without faults. Fixed offsets that clash with each other are the caller's to refuse.
/// Capacity and lower bound are only where a search aims and ends: a strategy that cannot keep
/// within them still returns the best placement it found.
using PlaceFunction = Placement (*)(const Problem&, const StrategyOptions&);

/// A wrong idea of which bytes of a graph must not meet; `right` is what happens-before says. What
/// has a fixed place stays apart from the rest in either.
using ClashesFunction = GraphClashes (*)(const ApartPlan& apart, const GraphClashes& right);

struct Strategy {
  std::string_view name;
  std::string_view help;  ///< One line.
  PlaceFunction place;
  ClashesFunction wrong_clashes = nullptr;  ///< Only of those that are unsafe.
  bool is_safe() const { return wrong_clashes == nullptr; }
};

/// The safe ones, in the order in which `--help` lists them.
std::span<const Strategy> strategies();
/// Targets for whoever checks plans: what they make of graphs is often unsafe. Their `place` alone
/// is that of a safe one.
std::span<const Strategy> unsafe_strategies();
/// Of both kinds; nullptr: no such strategy.
const Strategy* find_strategy(std::string_view name);

}  // namespace memverify
