// cuda_check/director.h -- gates: which commands of a run may go on now.
//
// In a free run everything may. In a directed one the instants of a witness happen one after
// another, each when its turn has come; the two commands of a race are let go together: both start,
// then both enter (touch their bytes for the first time), and only when both have entered may
// either leave. Gating one behind the other would be the very edge whose absence is to be shown.
// When the witness is over, everything may go on.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cuda_check/follow.h"

namespace memverify::device {

class Director {
 public:
  Director() = default;
  /// `race`: two commands that `run` leaves open, or kNone twice.
  Director(std::vector<Instant> run, std::pair<CommandId, CommandId> race)
      : run_(std::move(run)), race_(race), has_race_(race.first != kNone<CommandId>) {}

  bool may_start(CommandId c) const { return is_free() || is_turn({c, false}); }
  bool may_enter(CommandId c) const { return !in_race(c) || at_ == run_.size(); }
  bool may_leave(CommandId c) const {
    if (in_race(c)) return at_ == run_.size() && entered_ == 2;
    return is_free() || is_turn({c, true});
  }
  bool may_finish(CommandId c) const {
    return is_free() || is_turn({c, true}) || (in_race(c) && entered_ == 2);
  }

  /// `works`: it will enter and leave before it finishes.
  void started(CommandId c, bool works) {
    if (is_turn({c, false}) && (!works || in_race(c))) ++at_;
  }
  void entered(CommandId c) {
    if (in_race(c)) {
      ++entered_;
    } else if (is_turn({c, false})) {
      ++at_;
    }
  }
  void finished(CommandId c) {
    if (in_race(c)) ++finished_;
    if (is_turn({c, true})) ++at_;
  }

  /// Instants of the witness that have happened.
  std::size_t done() const { return at_; }
  std::size_t size() const { return run_.size(); }
  const Instant& turn() const { return run_[at_]; }
  bool is_free() const { return at_ == run_.size() && (!has_race_ || finished_ == 2); }

 private:
  bool in_race(CommandId c) const { return has_race_ && (c == race_.first || c == race_.second); }
  bool is_turn(const Instant& instant) const { return at_ < run_.size() && run_[at_] == instant; }

  std::vector<Instant> run_;
  std::pair<CommandId, CommandId> race_{kNone<CommandId>, kNone<CommandId>};
  bool has_race_ = false;
  std::size_t at_ = 0;
  unsigned entered_ = 0;
  unsigned finished_ = 0;
};

}  // namespace memverify::device
