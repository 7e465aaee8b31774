#include "verify/walk.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace memverify {
namespace {

class Walker {
 public:
  Walker(const Program& program, std::span<const Cmd> held, const std::vector<std::uint8_t>* only)
      : program_(program), plan_(*program.plan), held_(held), only_(only) {
    const std::size_t n = program.instances.size();
    result_.completed.assign(n, 0);
    result_.started.assign(n, 0);
    result_.order.reserve(n);
    prefix_done_.assign(plan_.queues.size(), 0);
    prefix_ops_done_.assign(plan_.queues.size(), 0);
    parked_on_queue_.resize(plan_.queues.size());
    parked_on_semaphore_.resize(plan_.semaphores.size());
    for (SemaphoreId id : ids(plan_.semaphores)) {
      reached_.push_back(
          plan_.semaphores[id].timeline ? program.layout->value(plan_.semaphores[id].initial) : 0);
    }
  }

  Walk run() {
    for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
      if (in_run(cmd)) visit(cmd);
      while (!woken_.empty()) {
        const Cmd next = woken_.back();
        woken_.pop_back();
        visit(next);
      }
    }
    result_.all_completed = result_.order.size() == program_.instances.size();
    return std::move(result_);
  }

 private:
  bool in_run(Cmd cmd) const { return only_ == nullptr || (*only_)[cmd] != 0; }

  void park(Cmd cmd, Cmd on) {
    if (parked_.empty()) {
      parked_.assign(program_.instances.size(), kNoCmd);
      next_parked_.assign(program_.instances.size(), kNoCmd);
    }
    next_parked_[cmd] = parked_[on];
    parked_[on] = cmd;
  }

  void wake(Cmd on) {
    if (parked_.empty()) return;
    for (Cmd cmd = std::exchange(parked_[on], kNoCmd); cmd != kNoCmd;) {
      woken_.push_back(cmd);
      cmd = std::exchange(next_parked_[cmd], kNoCmd);
    }
  }

  /// True if `other` has completed or does not exist; else parks `cmd` on it.
  bool completed_or_park(Cmd cmd, Cmd other) {
    if (other == kNoCmd || result_.completed[other]) return true;
    park(cmd, other);
    return false;
  }

  /// The command before `cmd` in one of its queues must have started (or completed).
  bool queue_allows(Cmd cmd, const Instance& instance) {
    if (instance.queue == kNone<QueueId>) return true;
    const auto& commands = program_.queue_commands[index(instance.queue)];
    if (instance.queue_index == 0) return true;
    const QueueOrder order = plan_.queues[instance.queue].order;
    if (order == QueueOrder::kNone) return completed_or_park(cmd, instance.fence_before);
    const Cmd before = commands[instance.queue_index - 1];
    if (completes_in_order(order)) return completed_or_park(cmd, before);
    if (!result_.started[before]) {
      park(cmd, before);
      return false;
    }
    return completed_or_park(cmd, instance.fence_before);
  }

  bool prefix_allows(Cmd cmd, const Prefix& prefix) {
    const auto& members = program_.members_of(prefix);
    std::uint32_t& done = (prefix.ops_only ? prefix_ops_done_ : prefix_done_)[index(prefix.queue)];
    while (done < members.size() && result_.completed[members[done]]) ++done;
    if (done >= prefix.count) return true;
    park(cmd, members[done]);
    return false;
  }

  bool threshold_allows(Cmd cmd, const Threshold& threshold) {
    if (threshold.semaphore != kNone<SemaphoreId>) {
      if (reached_[index(threshold.semaphore)] >= threshold.need) return true;
      parked_on_semaphore_[index(threshold.semaphore)].emplace(threshold.need, cmd);
      return false;
    }
    const auto& ops = program_.ops_of(threshold.queue);
    std::int64_t missing = 0;
    const std::int64_t allowed = threshold.ops - threshold.need;
    std::uint32_t& done = prefix_ops_done_[index(threshold.queue)];
    while (done < threshold.ops && result_.completed[ops[done]]) ++done;
    for (std::uint32_t k = threshold.ops; k > done && missing <= allowed; --k) {
      if (!result_.completed[ops[k - 1]]) ++missing;
    }
    if (missing <= allowed) return true;
    parked_on_queue_[index(threshold.queue)].push_back(cmd);
    return false;
  }

  bool may_start(Cmd cmd, const Instance& instance) {
    if (!queue_allows(cmd, instance)) return false;
    if (!completed_or_park(cmd, instance.thread_before)) return false;
    for (Cmd other : program_.needs_of(instance)) {
      if (!completed_or_park(cmd, other)) return false;
    }
    if (instance.counts == 0) return true;
    for (const Prefix& prefix : program_.prefixes_of(instance)) {
      if (!prefix.gates_completion && !prefix_allows(cmd, prefix)) return false;
    }
    for (const Threshold& threshold : program_.thresholds_of(instance)) {
      if (!threshold_allows(cmd, threshold)) return false;
    }
    return true;
  }

  bool may_complete(Cmd cmd, const Instance& instance) {
    if (std::ranges::find(held_, cmd) != held_.end()) return false;
    if (instance.counts == 0) return true;
    for (const Prefix& prefix : program_.prefixes_of(instance)) {
      if (prefix.gates_completion && !prefix_allows(cmd, {prefix.queue, prefix.count, false}))
        return false;
    }
    return true;
  }

  void visit(Cmd cmd) {
    const Instance& instance = program_.instances[cmd];
    if (!result_.started[cmd]) {
      if (!may_start(cmd, instance)) return;
      result_.started[cmd] = ++time_;
      wake(cmd);
    }
    if (result_.completed[cmd] || !may_complete(cmd, instance)) return;
    result_.completed[cmd] = ++time_;
    result_.order.push_back(cmd);
    wake(cmd);
    signal(instance);
  }

  void signal(const Instance& instance) {
    if (instance.queue != kNone<QueueId> && !parked_on_queue_[index(instance.queue)].empty()) {
      auto& waiting = parked_on_queue_[index(instance.queue)];
      woken_.insert(woken_.end(), waiting.begin(), waiting.end());
      waiting.clear();
    }
    if (instance.counts == 0) return;
    for (const SignalItem& item : program_.signals_of(instance)) {
      std::int64_t& reached = reached_[index(item.semaphore)];
      const bool timeline = plan_.semaphores[item.semaphore].timeline;
      reached = timeline ? std::max(reached, item.value) : reached + item.value;
      auto& waiting = parked_on_semaphore_[index(item.semaphore)];
      while (!waiting.empty() && waiting.top().first <= reached) {
        woken_.push_back(waiting.top().second);
        waiting.pop();
      }
    }
  }

  using Waiting = std::pair<std::int64_t, Cmd>;
  const Program& program_;
  const Plan& plan_;
  std::span<const Cmd> held_;
  const std::vector<std::uint8_t>* only_;
  Walk result_;
  std::uint32_t time_ = 0;
  std::vector<Cmd> woken_;
  std::vector<Cmd> parked_, next_parked_;  ///< Lists of commands parked on a command, if any is.
  std::vector<std::uint32_t> prefix_done_,
      prefix_ops_done_;  ///< By queue: all before have completed.
  std::vector<std::vector<Cmd>> parked_on_queue_;
  std::vector<std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>>
      parked_on_semaphore_;
  std::vector<std::int64_t> reached_;  ///< By semaphore: the sum of signals, or the value.
};

}  // namespace

Walk walk(const Program& program, std::span<const Cmd> held,
          const std::vector<std::uint8_t>* only) {
  return Walker(program, held, only).run();
}

std::vector<Blocked> blocked_commands(const Program& program, const Walk& walk) {
  std::vector<std::int64_t> reached;
  for (SemaphoreId id : ids(program.plan->semaphores)) {
    std::int64_t value = 0;
    const bool timeline = program.plan->semaphores[id].timeline;
    for (const SignalInstance& signal : program.signals[index(id)]) {
      if (!walk.completed[signal.cmd]) continue;
      value = timeline ? std::max(value, signal.value) : value + signal.value;
    }
    reached.push_back(value);
  }
  const auto incomplete = [&](const std::vector<Cmd>& members, std::uint32_t count) {
    const auto end = members.begin() + count;
    const auto at = std::find_if(members.begin(), end, [&](Cmd c) { return !walk.completed[c]; });
    return at == end ? kNoCmd : *at;
  };
  std::vector<Blocked> result;
  for (Cmd cmd = 0; cmd < program.instances.size(); ++cmd) {
    if (walk.completed[cmd]) continue;
    const Instance& instance = program.instances[cmd];
    Blocked blocked{.cmd = cmd};
    for (Cmd other : program.needs_of(instance)) {
      if (!walk.completed[other]) blocked.on = other;
    }
    for (const Prefix& prefix : program.prefixes_of(instance)) {
      const auto& members = program.members_of(prefix);
      const Cmd other = incomplete(members, prefix.count);
      if (other != kNoCmd) blocked.on = other;
    }
    for (const Threshold& threshold : program.thresholds_of(instance)) {
      if (threshold.semaphore != kNone<SemaphoreId>) {
        if (reached[index(threshold.semaphore)] < threshold.need)
          blocked.semaphore = threshold.semaphore;
      } else {
        const auto& ops = program.ops_of(threshold.queue);
        const auto done = std::count_if(ops.begin(), ops.begin() + threshold.ops,
                                        [&](Cmd c) { return walk.completed[c] != 0; });
        if (done < threshold.need) blocked.queue = threshold.queue;
      }
    }
    if (blocked.on != kNoCmd || blocked.semaphore != kNone<SemaphoreId> ||
        blocked.queue != kNone<QueueId>) {
      result.push_back(blocked);
    }
  }
  return result;
}

}  // namespace memverify
