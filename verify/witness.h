// verify/witness.h -- minimal runs that show a finding.
//
// Problem: the shortest run in which two given starts have happened and two given completions have
//   not.
// Idea: without thresholds the down-set of the two starts is that run. With thresholds, take the
//   greedy run that holds back the two completions (reachable sets are closed under union, so it
//   has both starts), keep of it what the starts need, each wait its first sufficient signals, and
//   drop commands as long as the starts stay possible.
// Cost: linear in the run without thresholds; else a walk, and in small programs one walk per
//   command of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/finding.h"
#include "verify/one_semaphore.h"
#include "verify/order.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {

class Witnesses {
 public:
  /// `semaphore`: what finds the runs where several queues take from it, else nullptr.
  Witnesses(const Program& program, const Walk& walk, const Order& order,
            OneSemaphore* semaphore = nullptr);

  /// A run after which `a` and `b` have started and neither has completed (they must race).
  std::vector<Step> both_open(Cmd a, Cmd b);
  /// A run that ends with the start of `cmd`.
  std::vector<Step> up_to(Cmd cmd);
  /// A run in which the two come in the order that they can have: both open if nothing orders them,
  /// else one that ends with the start of the later one; one of them may never start.
  std::vector<Step> meeting(Cmd a, Cmd b);
  /// The whole greedy run: all that can happen. Cost: nothing after the first time.
  const std::vector<Step>& everything();

 private:
  enum : std::uint8_t { kStart = 1, kComplete = 2 };

  /// A minimal run in which `starts` have started and `held` have not completed.
  std::vector<Step> run(std::span<const Cmd> starts, std::span<const Cmd> held);
  std::vector<Step> make_everything() const;
  /// The instants of `walk` that `starts` need.
  void collect(std::span<const Cmd> starts, const Walk& walk);
  void need(Cmd cmd, std::uint8_t what);
  void need_before_start(Cmd cmd);
  void need_signals(const Threshold& threshold, std::uint32_t before, const Walk& walk);
  /// The collected instants in order of `walk`.
  std::vector<Step> steps(const Walk& walk) const;
  Walk shrink(std::span<const Cmd> starts, std::span<const Cmd> held);

  const Program& program_;
  const Walk& walk_;
  const Order& order_;
  OneSemaphore* semaphore_;
  std::vector<std::uint8_t> needed_;  ///< By Cmd.
  std::vector<Cmd> listed_;           ///< Commands with a need.
  std::vector<std::pair<Cmd, std::uint8_t>> stack_;
  std::optional<std::vector<Step>> everything_;
};

}  // namespace memverify
