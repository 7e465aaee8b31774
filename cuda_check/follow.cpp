#include "cuda_check/follow.h"

namespace memverify::device {
namespace {

constexpr std::size_t kNobody = ~std::size_t{0};

bool is_instant(const Call& call) {
  return call.kind == CallKind::kStart || call.kind == CallKind::kFinish;
}

}  // namespace

Follower::Follower(const Calls& calls) : machine_(calls) { settle(); }

void Follower::settle() {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t agent = 0; agent < machine_.agents(); ++agent) {
      while (machine_.is_ready(agent) &&
             (machine_.submits(agent) || !is_instant(*machine_.next(agent)))) {
        machine_.step(agent);
        moved = true;
      }
    }
  }
}

std::size_t Follower::agent_of(const Instant& instant) const {
  for (std::size_t agent = 0; agent < machine_.agents(); ++agent) {
    const Call* call = machine_.next(agent);
    if (call == nullptr || machine_.submits(agent) || call->command != instant.command) continue;
    if (call->kind == (instant.complete ? CallKind::kFinish : CallKind::kStart)) return agent;
  }
  return kNobody;
}

bool Follower::can(const Instant& instant) const {
  const std::size_t agent = agent_of(instant);
  return agent != kNobody && machine_.is_ready(agent);
}

void Follower::take(const Instant& instant) {
  machine_.step(agent_of(instant));
  settle();
}

std::vector<Instant> Follower::possible() const {
  std::vector<Instant> all;
  for (std::size_t agent = 0; agent < machine_.agents(); ++agent) {
    if (!machine_.is_ready(agent) || machine_.submits(agent)) continue;
    const Call& call = *machine_.next(agent);
    if (is_instant(call)) all.push_back({call.command, call.kind == CallKind::kFinish});
  }
  return all;
}

std::vector<Instant> instants(const Calls& calls, std::span<const Step> steps) {
  std::vector<Instant> run;
  for (const Step& step : steps) {
    const CommandId command = calls.find(step.op, step.iteration);
    if (command == kNone<CommandId>) return {};
    run.push_back({command, step.complete});
  }
  return run;
}

std::size_t follow(const Calls& calls, std::span<const Instant> run) {
  Follower follower(calls);
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (!follower.can(run[i])) return i;
    follower.take(run[i]);
  }
  return run.size();
}

}  // namespace memverify::device
