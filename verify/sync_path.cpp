#include "verify/sync_path.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "verify/schedule.h"

namespace memverify {
namespace {

constexpr std::size_t kMostPathNodes = 100'000;

class PathFinder {
 public:
  PathFinder(const Program& program, const Walk& walk, const Order& order, Cmd first)
      : program_(program), walk_(walk), order_(order), first_(first) {}

  std::vector<Cmd> find(Cmd second) {
    after_.emplace(second, kNoCmd);
    open_.push_back(second);
    while (!open_.empty() && !found_ && after_.size() < kMostPathNodes) {
      const Cmd at = open_.front();
      open_.pop_front();
      expand(at);
    }
    if (!found_) return {};
    std::vector<Cmd> path{first_};
    for (Cmd at = last_; at != kNoCmd; at = after_[at]) path.push_back(at);
    return without_same_queue(path);
  }

 private:
  /// `other` completes before `at` starts, or is a record that does so.
  void visit(Cmd at, Cmd other) {
    if (found_) return;
    if (other == first_) {
      found_ = true;
      last_ = at;
      return;
    }
    if (!walk_.completed[other] || after_.contains(other)) return;
    if (!order_.before(first_, other) && !order_.before_completion(first_, other)) return;
    after_.emplace(other, at);
    open_.push_back(other);
  }

  void expand(Cmd at) {
    const Instance& instance = program_.instances[at];
    const Instance& first = program_.instances[first_];
    if (instance.queue != kNone<QueueId>) {
      const QueueOrder order = program_.plan->queues[instance.queue].order;
      if (completes_in_order(order) && instance.queue == first.queue &&
          first.queue_index < instance.queue_index) {
        return visit(at, first_);
      }
      if (order == QueueOrder::kIssue && instance.queue_index > 0) {
        visit_start(at, program_.queue_commands[index(instance.queue)][instance.queue_index - 1]);
      }
    }
    for (const Cmd other : program_.needs_of(instance)) visit(at, other);
    for_each_need(program_, at, [&](Cmd other) { visit(at, other); });
    for (const Prefix& prefix : program_.prefixes_of(instance)) {
      if (!prefix.gates_completion || prefix.queue != first.queue) continue;
      if (first.queue_index < prefix.count) visit(at, first_);
    }
    for (const Threshold& threshold : program_.thresholds_of(instance)) {
      if (threshold.semaphore == kNone<SemaphoreId>) {
        const auto& ops = program_.ops_of(threshold.queue);
        for (std::uint32_t k = 0; k < threshold.ops; ++k) visit(at, ops[k]);
        continue;
      }
      for (const SignalInstance& signal : program_.signals[index(threshold.semaphore)]) {
        visit(at, signal.cmd);
      }
    }
  }

  /// `other` starts before `at` does: no more than that.
  void visit_start(Cmd at, Cmd other) {
    if (other != first_) visit(at, other);
  }

  bool is_in_order(Cmd cmd) const {
    const QueueId queue = program_.instances[cmd].queue;
    return queue != kNone<QueueId> && completes_in_order(program_.plan->queues[queue].order);
  }

  /// The inner part of a path, of each stretch on one queue the ends alone.
  std::vector<Cmd> without_same_queue(const std::vector<Cmd>& path) const {
    std::vector<Cmd> inner;
    for (std::size_t k = 1; k + 1 < path.size(); ++k) {
      const auto queue = [&](std::size_t i) { return program_.instances[path[i]].queue; };
      const bool is_between =
          is_in_order(path[k]) && queue(k - 1) == queue(k) && queue(k) == queue(k + 1);
      const bool is_told = !program_.instances[path[k]].gate && !is_between;
      if (is_told) inner.push_back(path[k]);
    }
    return inner;
  }

  const Program& program_;
  const Walk& walk_;
  const Order& order_;
  const Cmd first_;
  std::unordered_map<Cmd, Cmd> after_;  ///< What waits for it, on the way to the second.
  std::deque<Cmd> open_;
  bool found_ = false;
  Cmd last_ = kNoCmd;
};

}  // namespace

std::vector<Cmd> sync_path(const Program& program, const Walk& walk, const Order& order, Cmd first,
                           Cmd second) {
  return PathFinder(program, walk, order, first).find(second);
}

}  // namespace memverify
