// sim/simulate.h -- deciding a plan by executing every order of instants that it allows.
//
// Sound and complete for what it finishes: every reachable state is visited once, under every
// assignment of the conditions and every value of the symbols. What is too large ends as MV201 with
// how far the search came, never with a verdict it has not earned.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// Where a search stands; given to SimOptions::progress about ten times a second.
struct SimProgress {
  std::uint64_t cases_done = 0;  ///< Of `cases`.
  std::uint64_t cases = 0;
  std::uint64_t states = 0;  ///< So far, over all cases.
  double seconds = 0;
};

struct SimOptions {
  std::size_t max_findings = 100;                    ///< Errors and not-proven findings kept; >= 1.
  std::uint64_t max_states = 1'000'000'000;          ///< Over all cases.
  double max_seconds = 0;                            ///< Of wall time; 0: no limit.
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< That states may take at a time.
  std::uint64_t max_cases = 4096;         ///< Assignments of conditions and values of symbols.
  std::int64_t unbounded_iterations = 4;  ///< What an "unbounded" plan is searched for bugs with.
  std::vector<SymbolValue> symbols;       ///< Given values; the other symbols take all of theirs.
  std::vector<ConditionValue> when;       ///< Given values; the other conditions take both.

  /// Values of bytes are part of every state, even where they follow from the positions (no
  /// semaphore is consumed). Slower, same findings: it checks the argument of sim/reads.h.
  bool always_track_values = false;
};

struct SimStats {
  std::uint64_t cases = 0;        ///< Searched to the end.
  std::uint64_t commands = 0;     ///< Command instances, over all cases.
  std::uint64_t pairs = 0;        ///< Conflicting pairs of them that were watched.
  std::uint64_t states = 0;       ///< Visited, the initial ones included.
  std::uint64_t transitions = 0;  ///< Steps taken from them.
  bool exhaustive = false;        ///< Every state of every case was visited.
  std::string stopped;            ///< Which limit ended the search; "" if none did.
};

/// Decides `plan`. All tensors must be placed. Findings are sorted by rule, then ops; each that a
/// run shows has a minimal witness (no step of it can go) that replay() confirms.
EngineResult simulate(const Plan& plan, const SimOptions& options, SimStats& stats);

}  // namespace memverify
