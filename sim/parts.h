// sim/parts.h -- one search in parts that share nothing, and joining them to the whole.
//
// Where all needs are thresholds, each part is dealt tiles of states, and visits each from a run
// that leads into it (sim/tiles.h): every state is in one part. Elsewhere, and with a reduction,
// all parts visit the first layers of states, until one holds many for each part
// (SimOptions::part_states); its states are dealt out by a hash, and a part goes on from its own
// alone. Each is a prefix of runs, and every run goes through one of them, so that together the
// parts visit all states; those that runs of several parts reach are visited by each of these.
// Where a plan has four cases (values of conditions and symbols) for each part or more, whole cases
// are dealt.
//
// join_parts() works out anew what was dealt to whom, and gives a verdict only if every prefix is
// in a part that came to its end. Parts are plain numbers, that tools/part_file.h keeps in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/result.h"
#include "sim/simulate.h"

namespace memverify {

/// Part `number` of `of`; 1 <= number <= of <= kMostParts.
struct SimShard {
  static constexpr std::uint64_t kMostParts = 4096;
  std::uint64_t number = 1;
  std::uint64_t of = 1;
  bool operator==(const SimShard&) const = default;
};

/// Where a search met something; the numbers are those of its model.
struct SimSighting {
  std::uint64_t what = 0;    ///< A suspect, a blocked command, or a demand.
  std::uint64_t author = 0;  ///< Of a wrong value: whose it was.
  std::uint64_t step = 0;
  std::vector<std::uint16_t> state;
  std::vector<std::uint64_t> versions;
  bool operator==(const SimSighting&) const = default;
};

/// What a part saw of one case.
struct SimPartCase {
  std::uint64_t number = 0;         ///< Of the case, from 0.
  std::uint64_t common_states = 0;  ///< Visited by every part: before anything is dealt out.
  std::uint64_t common_transitions = 0;
  std::uint64_t states = 0;  ///< All that were visited.
  std::uint64_t transitions = 0;
  bool reaches_end = false;
  std::string stopped;  ///< The limit that ended it; then it is the part's last case.
  std::vector<SimSighting> hits;
  std::vector<SimSighting> deadlocks;
  std::vector<SimSighting> wrong;
  bool operator==(const SimPartCase&) const = default;
};

struct SimPart {
  SimShard shard;
  std::vector<SimPartCase> cases;  ///< Ascending; those that it was dealt.
};

/// Searches one part. The result says what this part saw; it is never "safe". Precondition: no
/// random runs, no counting, a reduction other than kClasses.
EngineResult simulate_part(const Plan& plan, const SimOptions& options, const SimShard& shard,
                           SimPart& part, SimStats& stats);

/// The result of the whole search, from all its parts in any order. `options` are those of the
/// parts. Errors: "parts.none", "parts.mixed" (not as many parts each), "parts.overlap" (one is
/// there twice), "parts.gap" (one, or a case of one, is missing), "parts.damaged" (numbers that
/// this plan has not, or parts that began differently).
Result<EngineResult> join_parts(const Plan& plan, const SimOptions& options,
                                const std::vector<SimPart>& parts, SimStats& stats);

}  // namespace memverify
