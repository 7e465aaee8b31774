// verify/races.h -- all racing pairs on the bytes that the sweep found racy.
//
// Problem: one race hides no other; but the pairs on a racy byte may be many and mostly ordered.
// Idea: on each racy point keep the accesses so far by chain. Those of a chain that are not ordered
//   before an access are a suffix of it, found in one look at the clock: only races are enumerated.
// Cost: O(accesses on racy points * chains there) and the races themselves, up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
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

struct RaceList {
  RacingPairs pairs;
  bool stopped = false;  ///< The limit was reached: there may be more.
};

/// At most `limit` pairs of ops.
RaceList list_races(const Program& program, const Walk& walk, const Order& order,
                    const Footprints& footprints, const PointMarks& racy, std::size_t limit);

}  // namespace memverify
