// tests/bench/place/peer.h -- another solver on the same table.
#pragma once

#include <string>

#include "planner/csv.h"

namespace memverify {

/// Of a peer or of a strategy.
struct PlacementRun {
  Placement placement;  ///< Of a peer only the offsets and the peak.
  double seconds = 0;   ///< CPU time.
  std::string fault;    ///< Why there is no placement; empty: there is one.
};

/// Runs `command` in a shell. `{in}` stands for the table, `{out}` for the file that it must write,
/// a table with the column `offset`, and `{capacity}` for the bytes that it has: those of the
/// problem, without a capacity its lower bound.
PlacementRun run_peer(std::string command, const std::string& file, const CsvProblem& csv);

}  // namespace memverify
