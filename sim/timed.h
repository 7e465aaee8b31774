// sim/timed.h -- runs in time ([S-57]): what a plan does when delays and durations are given.
//
// Time makes a run definite: every instant happens as soon as it may. What is varied is the delay
// of each queue and the duration of each op, over the ranges that the plan lists: all combinations,
// or, beyond a budget, random ones. A timed run can show a fault, never its absence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"
#include "sim/simulate.h"

namespace memverify {

struct TimedOptions {
  /// [lo, hi] ticks for every queue, in place of what the plan says; 0 <= lo <= hi.
  std::optional<std::pair<std::int64_t, std::int64_t>> delays;
  std::uint64_t max_runs = 100'000;  ///< For each case; with more combinations that many are drawn.
  std::uint64_t seed = 0;            ///< Of those draws.
  double max_seconds = 0;            ///< Of wall time; 0: no limit.
  std::uint64_t max_cases = 4096;    ///< As SimOptions::max_cases.
  std::int64_t unbounded_iterations = 4;
};

struct TimedStep {
  Step step;
  std::int64_t tick = 0;
};

/// One timed run that fails.
struct TimedFailure {
  std::vector<std::int64_t> delays;     ///< By queue.
  std::vector<std::int64_t> durations;  ///< By op.
  std::vector<SymbolValue> symbols;
  std::vector<ConditionValue> when;
  std::vector<TimedStep> timeline;  ///< Ascending in time.
  std::int64_t makespan = 0;        ///< Of what has happened by then, if it ends in a deadlock.
  std::string fault;                ///< A sentence.
};

struct TimedResult {
  std::string combinations;  ///< Decimal: of delays and durations, for each case.
  std::uint64_t cases = 0;
  std::uint64_t runs = 0;
  std::uint64_t failing = 0;
  bool all = true;       ///< Every combination was to be run; else they were drawn with the seed.
  bool stopped = false;  ///< By max_seconds.
  std::int64_t least_makespan = 0;
  std::int64_t greatest_makespan = 0;
  /// The failing run with the least lateness: the sum by which delays and durations exceed their
  /// least values; the first of those.
  std::optional<TimedFailure> smallest;
  std::string error;  ///< Why nothing was run; "" if something was.
};

/// Cost of a run: its commands squared at worst, linear when few are ready at a time.
TimedResult simulate_timed(const Plan& plan, const TimedOptions& options);

/// "`dma` delayed by 2 ticks, `load_A` takes 3": what differs from the least values.
std::string lateness_words(const Plan& plan, const TimedOptions& options,
                           const TimedFailure& failure);

}  // namespace memverify
