#include "verify/witness.h"

#include <algorithm>

namespace memverify {
namespace {

constexpr std::size_t kMaxShrunkInstances = 2000;

}  // namespace

Witnesses::Witnesses(const Program& program, const Walk& walk, const Order& order,
                     OneSemaphore* semaphore)
    : program_(program),
      walk_(walk),
      order_(order),
      semaphore_(semaphore),
      needed_(program.instances.size(), 0) {}

std::vector<Step> Witnesses::both_open(Cmd a, Cmd b) {
  if (semaphore_ != nullptr) {
    return semaphore_->run({{.reach = {{a}, {b}}, .avoid = {{a, true}, {b, true}}}})
        .value_or(std::vector<Step>());
  }
  const Cmd pair[] = {a, b};
  return run(pair, pair);
}

std::vector<Step> Witnesses::up_to(Cmd cmd) {
  if (semaphore_ == nullptr) return run({&cmd, 1}, {});
  return semaphore_->run({{.reach = {{cmd}}}}).value_or(std::vector<Step>());
}

std::vector<Step> Witnesses::meeting(Cmd a, Cmd b) {
  if (!walk_.started[a]) return up_to(b);
  if (!walk_.started[b]) return up_to(a);
  if (order_.before(a, b)) return up_to(b);
  if (order_.before(b, a)) return up_to(a);
  return both_open(a, b);
}

const std::vector<Step>& Witnesses::everything() {
  if (!everything_) everything_ = make_everything();
  return *everything_;
}

std::vector<Step> Witnesses::make_everything() const {
  if (semaphore_ != nullptr) {
    return semaphore_->run({{.everything = true}}).value_or(std::vector<Step>());
  }
  std::vector<std::pair<std::uint32_t, Step>> instants;
  for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
    const Instance& instance = program_.instances[cmd];
    if (instance.gate) continue;
    const Step start{false, instance.op, std::int64_t{instance.iteration}};
    const Step complete{true, instance.op, std::int64_t{instance.iteration}};
    if (walk_.started[cmd]) instants.emplace_back(walk_.started[cmd], start);
    if (walk_.completed[cmd]) instants.emplace_back(walk_.completed[cmd], complete);
  }
  std::ranges::sort(instants, {}, [](const auto& instant) { return instant.first; });
  std::vector<Step> result;
  result.reserve(instants.size());
  for (const auto& [time, step] : instants) result.push_back(step);
  return result;
}

std::vector<Step> Witnesses::run(std::span<const Cmd> starts, std::span<const Cmd> held) {
  if (program_.thresholds.empty()) {
    collect(starts, walk_);
    return steps(walk_);
  }
  Walk run = walk(program_, held);
  collect(starts, run);
  if (program_.instances.size() <= kMaxShrunkInstances) {
    run = shrink(starts, held);
    collect(starts, run);
  }
  return steps(run);
}

void Witnesses::collect(std::span<const Cmd> starts, const Walk& walk) {
  for (Cmd cmd : listed_) needed_[cmd] = 0;
  listed_.clear();
  for (Cmd cmd : starts) need(cmd, kStart);
  while (!stack_.empty()) {
    const auto [cmd, what] = stack_.back();
    stack_.pop_back();
    const Instance& instance = program_.instances[cmd];
    if ((what & kStart) != 0) {
      need_before_start(cmd);
      for (const Threshold& threshold : program_.thresholds_of(instance)) {
        need_signals(threshold, walk.started[cmd], walk);
      }
    }
    for (const Prefix& prefix : program_.prefixes_of(instance)) {
      if ((what & (prefix.gates_completion ? kComplete : kStart)) == 0) continue;
      const auto& members = program_.members_of(prefix);
      for (std::uint32_t k = 0; k < prefix.count; ++k) need(members[k], kStart | kComplete);
    }
  }
}

void Witnesses::need(Cmd cmd, std::uint8_t what) {
  if (cmd == kNoCmd || (needed_[cmd] & what) == what) return;
  if (needed_[cmd] == 0) listed_.push_back(cmd);
  stack_.emplace_back(cmd, static_cast<std::uint8_t>(what & ~needed_[cmd]));
  needed_[cmd] = static_cast<std::uint8_t>(needed_[cmd] | what);
}

void Witnesses::need_before_start(Cmd cmd) {
  const Instance& instance = program_.instances[cmd];
  if (instance.queue != kNone<QueueId>) {
    const QueueOrder order = program_.plan->queues[instance.queue].order;
    if (instance.queue_index > 0 && order != QueueOrder::kNone) {
      const Cmd before = program_.queue_commands[index(instance.queue)][instance.queue_index - 1];
      need(before, completes_in_order(order) ? kStart | kComplete : kStart);
    }
    if (!completes_in_order(order)) need(instance.fence_before, kStart | kComplete);
  }
  need(instance.thread_before, kStart | kComplete);
  for (Cmd other : program_.needs_of(instance)) need(other, kStart | kComplete);
}

void Witnesses::need_signals(const Threshold& threshold, std::uint32_t before, const Walk& walk) {
  std::vector<SignalInstance> signals;
  const auto add = [&](Cmd cmd, std::int64_t value) {
    if (walk.completed[cmd] != 0 && walk.completed[cmd] < before) signals.push_back({cmd, value});
  };
  bool timeline = false;
  if (threshold.semaphore != kNone<SemaphoreId>) {
    timeline = program_.plan->semaphores[threshold.semaphore].timeline;
    for (const SignalInstance& s : program_.signals[index(threshold.semaphore)]) {
      if (!timeline || s.value >= threshold.need) add(s.cmd, s.value);
    }
  } else {
    const auto& ops = program_.ops_of(threshold.queue);
    for (std::uint32_t k = 0; k < threshold.ops; ++k) add(ops[k], 1);
  }
  std::ranges::sort(signals, {}, [&](const SignalInstance& s) { return walk.completed[s.cmd]; });
  std::int64_t reached = 0;
  for (const SignalInstance& s : signals) {
    need(s.cmd, kStart | kComplete);
    reached += s.value;
    if (reached >= threshold.need) return;
  }
}

std::vector<Step> Witnesses::steps(const Walk& walk) const {
  std::vector<std::pair<std::uint32_t, Step>> instants;
  for (Cmd cmd : listed_) {
    const Instance& instance = program_.instances[cmd];
    if (instance.gate) continue;
    const auto iteration = std::int64_t{instance.iteration};
    if ((needed_[cmd] & kStart) != 0) {
      instants.push_back({walk.started[cmd], {false, instance.op, iteration}});
    }
    if ((needed_[cmd] & kComplete) != 0) {
      instants.push_back({walk.completed[cmd], {true, instance.op, iteration}});
    }
  }
  std::ranges::sort(instants, {}, [](const auto& instant) { return instant.first; });
  std::vector<Step> result;
  result.reserve(instants.size());
  for (const auto& [time, step] : instants) result.push_back(step);
  return result;
}

/// Where thresholds leave a choice: leaves out every command without which the starts still happen.
Walk Witnesses::shrink(std::span<const Cmd> starts, std::span<const Cmd> held) {
  std::vector<std::uint8_t> only(program_.instances.size(), 0);
  for (Cmd cmd : listed_) only[cmd] = 1;
  Walk best = walk(program_, held, &only);
  std::vector<Cmd> candidates = listed_;
  std::ranges::sort(candidates, std::ranges::greater());
  for (Cmd cmd : candidates) {
    only[cmd] = 0;
    Walk shorter = walk(program_, held, &only);
    if (std::ranges::all_of(starts, [&](Cmd s) { return shorter.started[s] != 0; })) {
      best = std::move(shorter);
    } else {
      only[cmd] = 1;
    }
  }
  return best;
}

}  // namespace memverify
