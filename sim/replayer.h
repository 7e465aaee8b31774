// sim/replayer.h -- replays of many runs of one plan.
#pragma once

#include <cstdint>

#include "sim/replay.h"
#include "sim/stage.h"

namespace memverify {

/// Replays runs of one plan, one after another. Runs under the same values of symbols and
/// conditions and of the same number of iterations execute the same commands on the same bytes:
/// what one has laid out serves those that come right after it, and each executes on a state of its
/// own. `plan` must outlive it and stay as it is.
class Replayer {
 public:
  explicit Replayer(const Plan& plan) : plan_(plan), stage_(plan) {}

  /// As replay() of one run. Cost: linear in the run and in the commands that may touch
  /// `finding.bytes`, and some bytes for each command; in the plan, too, where the case is another
  /// than before, and of the rules about bytes for the first such finding of a case.
  ReplayResult replay(const Finding& finding);

 private:
  ReplayResult replay_case(const Finding& finding, sim::Case settled);
  ReplayResult replay_any_length(const Finding& finding);

  const Plan& plan_;
  sim::Stage stage_;
  std::uint64_t taken_ = 0;  ///< Steps of runs, of the present replay.
};

}  // namespace memverify
