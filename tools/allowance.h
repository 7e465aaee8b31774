// tools/allowance.h -- the time of --seconds, for all that a command does with it.
#pragma once

#include <algorithm>
#include <chrono>

#include "planner/plan_graph.h"

namespace memverify {

/// Seconds of wall time from now on, which placements, advice, comparisons and timed runs share.
class Allowance {
 public:
  explicit Allowance(double seconds)
      : end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(std::min(seconds, 1e9)))) {}
  double left() const {
    return std::max(std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count(),
                    0.0);
  }
  bool is_over() const { return left() <= 0; }
  /// `how`, with a part (> 0, at most 1) of what is left.
  PlanGraphOptions part(double part, const PlanGraphOptions& how) const {
    PlanGraphOptions result = how;
    result.strategy.max_seconds = part * left();
    return result;
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace memverify
