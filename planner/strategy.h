// planner/strategy.h -- the ways to place buffers, one file each, one table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plan/result.h"
#include "planner/problem.h"

namespace memverify {

struct StrategyOptions {
  double max_seconds = 10;  ///< Of wall time, for those that search; the result is the best so far.
  std::uint64_t max_nodes =
      0;  ///< Of a search; 0: no limit. Unlike seconds, this is deterministic.
  std::uint64_t seed = 1;
};

/// A placement without faults. Fixed offsets that clash with each other are the caller's to refuse.
/// Capacity and lower bound are only reasons to stop: a strategy that cannot keep within them still
/// returns the best placement it found.
using PlaceFunction = Placement (*)(const Problem&, const StrategyOptions&);

struct Strategy {
  std::string_view name;
  std::string_view help;  ///< One line.
  PlaceFunction place;
};

/// In the order in which `--help` lists them.
std::span<const Strategy> strategies();
/// nullptr: no such strategy.
const Strategy* find_strategy(std::string_view name);

}  // namespace memverify
