// cuda_check/follow.h -- a run of a plan on the mock driver, instant by instant.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cuda_check/machine.h"
#include "plan/finding.h"

namespace memverify::device {

/// One instant of a run.
struct Instant {
  CommandId command = kNone<CommandId>;
  bool complete = false;
  bool operator==(const Instant&) const = default;
};

/// The mock driver, with everything done at once that is no instant of a command.
class Follower {
 public:
  explicit Follower(const Calls& calls);

  bool can(const Instant& instant) const;
  /// Precondition: can(instant).
  void take(const Instant& instant);
  /// Every instant that can happen now.
  std::vector<Instant> possible() const;
  const Machine& machine() const { return machine_; }

 private:
  void settle();
  std::size_t agent_of(const Instant& instant) const;
  Machine machine_;
};

/// The steps as instants; empty where one is no command of `calls`.
std::vector<Instant> instants(const Calls& calls, std::span<const Step> steps);

/// How many of the instants can happen one after another. Cost: steps * agents.
std::size_t follow(const Calls& calls, std::span<const Instant> run);

}  // namespace memverify::device
