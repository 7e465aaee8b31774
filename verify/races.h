// verify/races.h -- all racing pairs on the bytes that the sweep found racy.
//
// Problem: one race hides no other; but the pairs on a racy byte may be many and mostly ordered.
// Idea: on each racy point keep the accesses so far by chain. Those of a chain that are not ordered
//   before an access are a suffix of it, found in one look at the clock: only races are enumerated.
// Cost: O(accesses on racy points * chains there) and the races themselves, up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "verify/footprint.h"
#include "verify/order.h"
#include "verify/sweep.h"

namespace memverify {

/// In how many ways a pair clashes: bit 0 the earlier reads and the later writes, bit 1 the other
/// way round, bit 2 both write. The lowest bit names the rule (MV101 + bit).
using Clashes = std::uint8_t;

struct RacingPair {
  Clashes clashes = 0;
  Cmd first = kNoCmd,
      second = kNoCmd;  ///< The first instances, in program order, of the lowest bit.
};

/// By the two ops, in program order of their instances.
using RacingPairs = std::map<std::pair<OpId, OpId>, RacingPair>;

/// Points whose accesses (indices of AccessInstances) come in an order that is a choice of the run,
/// and yet no two that conflict are ever open together.
struct TurnPoints {
  std::uint32_t begin = 0, end = 0;
  std::vector<std::uint32_t> accesses;
};

/// True iff some run has both commands open.
using BothOpen = std::function<bool(Cmd, Cmd)>;

struct RaceList {
  RacingPairs pairs;
  std::vector<TurnPoints> turns;  ///< Only with `both_open`.
  bool stopped = false;           ///< The limit was reached: there may be more.
};

/// At most `limit` pairs of ops. `racy` marks points where some conflicting pair is not ordered;
/// with `both_open` such a pair need not race.
RaceList list_races(const Program& program, const Walk& walk, const Order& order,
                    const Footprints& footprints, const PointMarks& racy, std::size_t limit,
                    const BothOpen& both_open = {});

}  // namespace memverify
