// sim/simulate.h -- deciding a plan by executing every order of instants that it allows.
//
// Sound and complete for what it finishes: every reachable state is visited once, under every
// assignment of the conditions and every value of the symbols. What is too large ends as MV201 with
// how far the search came, never with a verdict it has not earned.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// Where a search stands; given to SimOptions::progress.
struct SimProgress {
  std::uint64_t cases_done = 0;  ///< Of `cases`.
  std::uint64_t cases = 0;
  std::uint64_t states = 0;  ///< So far, over all cases.
  double seconds = 0;
};

/// What a search leaves out. Verdict and findings are the same for all three.
enum class Reduction : std::uint8_t {
  kNone,     ///< Nothing: every state. What the word exhaustive promises.
  kSleep,    ///< What only reorders independent steps: persistent sets and sleep sets.
  kClasses,  ///< All but one run of each class of runs that differ only so. The same as kSleep
             ///< where one queue takes from a semaphore that another one waits for, too.
};

std::string_view name(Reduction reduction);  ///< "none", "sleep" or "classes".

/// What to search, and how far.
struct SimOptions {
  Reduction reduction = Reduction::kNone;
  bool count = false;                                ///< Fill `interleavings` and `failing`.
  std::size_t max_findings = 100;                    ///< Errors and not-proven findings kept; >= 1.
  std::uint64_t max_states = 1'000'000'000;          ///< Over all cases.
  double max_seconds = 0;                            ///< Of wall time; 0: no limit.
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< That states may take at a time.
  std::size_t threads = 0;                ///< Cores to use; 0: all. The result is the same.
  std::uint64_t max_cases = 4096;         ///< Assignments of conditions and values of symbols.
  std::int64_t unbounded_iterations = 4;  ///< What an "unbounded" plan is searched for bugs with.
  std::uint64_t random_runs = 0;          ///< > 0: that many random runs a case, no search.
  std::uint64_t seed = 0;
  std::uint64_t random_depth = 3;    ///< Of the bugs that `random_bound` is about.
  std::vector<SymbolValue> symbols;  ///< Given values; the other symbols take all of theirs.
  std::vector<ConditionValue> when;  ///< Given values; the other conditions take both.

  std::uint64_t max_counted_states = 2'000'000;  ///< Cases with more are not counted.
  std::uint64_t part_states = 64;                ///< For each part, where sim/parts.h cuts; >= 1.
  std::function<void(const SimProgress&)>
      progress;  ///< Called now and then, at most ten times a second; may be empty.

  /// Values of bytes are part of every state, even where they follow from the positions (no
  /// semaphore is consumed). Slower, same findings: it checks the argument of sim/reads.h.
  bool always_track_values = false;
};

/// One assignment of conditions and symbols, counted.
struct SimCase {
  std::vector<SymbolValue> symbols;
  std::vector<ConditionValue> when;
  std::string interleavings;  ///< Decimal; "" when a limit was met.
  std::string failing;
};

/// How much a search looked at.
struct SimStats {
  std::uint64_t cases = 0;         ///< Searched to the end.
  std::uint64_t commands = 0;      ///< Command instances, over all cases.
  std::uint64_t pairs = 0;         ///< Conflicting pairs of them that were watched.
  std::uint64_t states = 0;        ///< Visited, the initial ones included.
  std::uint64_t transitions = 0;   ///< Steps taken from them.
  std::uint64_t runs = 0;          ///< Classes of runs explored with kClasses; random runs.
  std::uint64_t failing_runs = 0;  ///< Random runs with a fault.
  double random_bound = 0;  ///< One random run shows a given bug of the depth at least so likely.
  /// Maximal runs, over all cases; they go on past a fault, and those with a fault or a deadlock
  /// fail. Decimal; "" unless asked for, and when a limit was met.
  std::string interleavings;
  std::string failing;
  std::vector<SimCase> counted;  ///< By case, in the order of the search; only if asked for.
  bool complete = false;         ///< Nothing was left out but what the reduction may leave out.
  std::string stopped;           ///< Which limit ended the search; "" if none did.
};

/// Decides `plan`. All tensors must be placed. Findings are sorted by rule, then ops; each that a
/// run shows has a minimal witness (no step of it can go) that replay() confirms.
EngineResult simulate(const Plan& plan, const SimOptions& options, SimStats& stats);

}  // namespace memverify
