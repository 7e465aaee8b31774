// cuda_check/run_times.h -- when the commands of a run started and finished.
#pragma once

#include <cstddef>
#include <vector>

#include "cuda_check/device.h"

namespace memverify::device {

/// When commands started and finished, as far as that had happened at some point of a run.
class Times {
 public:
  Times(std::size_t commands, const RunReport* report, std::size_t at)
      : is_known_(report != nullptr && !report->instants.empty()) {
    if (!is_known_) return;
    started_.assign(commands, kNever);
    finished_.assign(commands, kNever);
    for (std::size_t i = 0; i < at; ++i) {
      const Instant& instant = report->instants[i];
      (instant.complete ? finished_ : started_)[index(instant.command)] = i;
    }
  }
  bool has_started(CommandId c) const { return !is_known_ || started_[index(c)] != kNever; }
  /// Whatever `c` added may still be there though `base` wrote the bytes.
  bool may_be_on_top(CommandId c, CommandId base) const {
    return !is_known_ || base == kNone<CommandId> || finished_[index(c)] > started_[index(base)];
  }
  /// Both were open at once.
  bool overlap(CommandId a, CommandId b) const {
    return has_started(a) && has_started(b) && started_[index(a)] < finished_[index(b)] &&
           started_[index(b)] < finished_[index(a)];
  }

 private:
  static constexpr std::size_t kNever = ~std::size_t{0};
  bool is_known_;
  std::vector<std::size_t> started_, finished_;
};

}  // namespace memverify::device
