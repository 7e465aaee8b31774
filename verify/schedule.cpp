#include "verify/schedule.h"

#include <algorithm>

namespace memverify {
namespace {

constexpr int kMostPasses = 16;

class Scheduler {
 public:
  Scheduler(const Program& program, const Walk& walk, bool greatest)
      : program_(program), plan_(*program.plan), walk_(walk), greatest_(greatest) {
    result_.start.assign(program.instances.size(), 0);
    result_.complete.assign(program.instances.size(), 0);
    is_placed_.assign(program.instances.size(), 0);
  }

  Schedule run() {
    for (int pass = 0; pass < kMostPasses; ++pass) {
      bool changed = false;
      for (const Cmd cmd : walk_.order) changed = place(cmd) || changed;
      if (!changed || program_.thresholds.empty()) break;
    }
    for (const Cmd cmd : walk_.order) {
      result_.makespan = std::max(result_.makespan, result_.complete[cmd]);
    }
    return std::move(result_);
  }

 private:
  /// True if it moved.
  bool place(Cmd cmd) {
    const Instance& instance = program_.instances[cmd];
    std::int64_t at = earliest_on_queue(cmd, instance);
    for_each_need(program_, cmd, [&](Cmd other) { at = std::max(at, result_.complete[other]); });
    for (const Threshold& threshold : program_.thresholds_of(instance)) {
      at = std::max(at, reached(threshold));
    }
    std::int64_t end = at + duration(cmd, instance);
    for (const Prefix& prefix : program_.prefixes_of(instance)) {
      if (!prefix.gates_completion) continue;
      const auto& members = program_.queue_commands[index(prefix.queue)];
      for (std::uint32_t k = 0; k < prefix.count; ++k) {
        if (members[k] != cmd) end = std::max(end, result_.complete[members[k]]);
      }
    }
    const bool moved =
        is_placed_[cmd] == 0 || result_.start[cmd] != at || result_.complete[cmd] != end;
    is_placed_[cmd] = 1;
    result_.start[cmd] = at;
    result_.complete[cmd] = end;
    return moved;
  }

  std::int64_t earliest_on_queue(Cmd, const Instance& instance) const {
    if (instance.queue == kNone<QueueId>) return 0;
    const Queue& queue = plan_.queues[instance.queue];
    std::int64_t at = greatest_ ? queue.delay_max : queue.delay_min;
    if (queue.order == QueueOrder::kIssue && instance.queue_index > 0) {
      const auto& commands = program_.queue_commands[index(instance.queue)];
      at = std::max(at, result_.start[commands[instance.queue_index - 1]]);
    }
    return at;
  }

  std::int64_t duration(Cmd, const Instance& instance) const {
    if (instance.gate) return 0;
    const Duration duration = duration_of(plan_, plan_.ops[instance.op]);
    if (instance.skipped) return 0;
    return greatest_ ? duration.max : duration.min;
  }

  /// The tick at which the earliest completions suffice.
  std::int64_t reached(const Threshold& threshold) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> served;  // (tick, weight)
    if (threshold.semaphore == kNone<SemaphoreId>) {
      const auto& ops = program_.ops_of(threshold.queue);
      for (std::uint32_t k = 0; k < threshold.ops; ++k) {
        if (is_placed_[ops[k]] != 0) served.emplace_back(result_.complete[ops[k]], 1);
      }
    } else {
      for (const SignalInstance& signal : program_.signals[index(threshold.semaphore)]) {
        if (is_placed_[signal.cmd] != 0) {
          served.emplace_back(result_.complete[signal.cmd], signal.value);
        }
      }
    }
    const bool timeline =
        threshold.semaphore != kNone<SemaphoreId> && plan_.semaphores[threshold.semaphore].timeline;
    std::ranges::sort(served);
    std::int64_t sum = 0;
    for (const auto& [tick, weight] : served) {
      sum = timeline ? std::max(sum, weight) : sum + weight;
      if (sum >= threshold.need) return tick;
    }
    return 0;
  }

  const Program& program_;
  const Plan& plan_;
  const Walk& walk_;
  const bool greatest_;
  Schedule result_;
  std::vector<std::uint8_t> is_placed_;
};

}  // namespace

Schedule schedule(const Program& program, const Walk& walk, bool greatest) {
  return Scheduler(program, walk, greatest).run();
}

void for_each_need(const Program& program, Cmd cmd, const std::function<void(Cmd)>& visit) {
  const Instance& instance = program.instances[cmd];
  if (instance.queue != kNone<QueueId>) {
    const QueueOrder order = program.plan->queues[instance.queue].order;
    if (completes_in_order(order) && instance.queue_index > 0) {
      visit(program.queue_commands[index(instance.queue)][instance.queue_index - 1]);
    }
    if (!completes_in_order(order) && instance.fence_before != kNoCmd) {
      visit(instance.fence_before);
    }
  }
  if (instance.thread_before != kNoCmd) visit(instance.thread_before);
  for (const Cmd other : program.needs_of(instance)) visit(other);
  for (const Prefix& prefix : program.prefixes_of(instance)) {
    if (prefix.gates_completion) continue;
    const auto& members = program.members_of(prefix);
    for (std::uint32_t k = 0; k < prefix.count; ++k) visit(members[k]);
  }
}

}  // namespace memverify
