// cuda_check/machine.h -- the driver that calls are made to: streams, events, flags, semaphores.
//
// An *agent* is a submitting thread or a stream. What an agent does next is known; whether it can
// be done depends on the state alone. The mock driver steps agents one after another in any order;
// the threads device lets workers step them, under one lock.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda_check/calls.h"

namespace memverify::device {

enum class Phase : std::uint8_t { kWaiting, kOpen, kDone };

class Machine {
 public:
  /// `calls` must outlive it. Cost: linear in the calls.
  explicit Machine(const Calls& calls);

  /// Threads come first, then streams.
  std::size_t agents() const { return calls_.threads + calls_.streams.size(); }
  bool is_stream(std::size_t agent) const { return agent >= calls_.threads; }

  /// What the agent does next; nullptr when it is through, or, a stream, has nothing submitted.
  const Call* next(std::size_t agent) const;
  /// The thread only hands `next` to its stream, which is always possible.
  bool submits(std::size_t agent) const;
  /// False while `next` must wait, and when there is none.
  bool is_ready(std::size_t agent) const;
  /// Does `next`. Precondition: is_ready.
  void step(std::size_t agent);

  Phase phase(CommandId command) const { return phases_[command]; }
  /// Commands that have completed.
  std::size_t done() const { return done_; }
  bool is_finished() const { return left_ == 0; }

 private:
  struct Submitted {
    std::uint32_t call;
    std::uint32_t record;  ///< kWaitEvent: the call that recorded the event last; kNoRecord.
  };
  static constexpr std::uint32_t kNoRecord = 0xFFFFFFFFU;

  bool can(const Call& call, std::uint32_t record) const;
  bool can_start(CommandId command) const;
  void apply(const Call& call, std::uint32_t index);

  const Calls& calls_;
  std::vector<std::vector<std::uint32_t>> of_thread_;  ///< Indices of its calls.
  std::vector<std::size_t> at_;                        ///< By agent: how many it has done.
  std::vector<std::vector<Submitted>> of_stream_;
  std::vector<std::uint32_t> last_record_;  ///< By event.
  std::vector<bool> recorded_;              ///< By call.
  std::vector<bool> flags_;
  Table<SemaphoreId, std::int64_t> counts_;
  Table<CommandId, Phase> phases_;
  std::size_t done_ = 0;
  std::size_t left_ = 0;  ///< Calls that were not done, submitting them aside.
};

/// Whether `b` can start in the run that does all it can but never completes `a`: what the calls
/// order, exactly, as long as nothing is taken away. Cost: one run.
bool can_start_without(const Calls& calls, CommandId b, CommandId a);

/// Neither completes before the other starts, by can_start_without.
bool are_unordered(const Calls& calls, CommandId a, CommandId b);

}  // namespace memverify::device
