// The ways in which GraphMaker lets one op wait for another.
#include <algorithm>
#include <set>
#include <tuple>

#include "tools/fuzz_graph.h"

namespace memverify {

std::int64_t GraphMaker::submitted_since(std::size_t op) const {
  return std::count_if(done_.begin() + static_cast<std::ptrdiff_t>(op) + 1, done_.end(),
                       [&](const Done& other) { return other.queue == done_[op].queue; });
}

/// The way that is wished for, or any other that is right here.
SyncWay GraphMaker::way_to_join(std::size_t earlier, const Done& later) {
  SyncWay way = wish_.sync;
  if (draw_.percent(40) || way == SyncWay::kQueue) {
    way = static_cast<SyncWay>(1 + draw_.below(kSyncWays - 1));
  }
  const Done& op = done_[earlier];
  const bool both_run = op.condition < 0 && later.condition < 0;
  const bool counts = iterations_ == 1 || is_in_order(op.queue);
  // A dropped op is not submitted, and a count of submitted ones would leave out others.
  const bool all_run = conditions_.empty();
  switch (way) {
    case SyncWay::kCounting:
    case SyncWay::kConsuming:
    case SyncWay::kTimeline:
      return both_run && counts ? way : SyncWay::kAfter;
    case SyncWay::kPending:
      return all_run ? way : SyncWay::kEvent;
    case SyncWay::kOutstanding:
      return op.queue != later.queue ? way : SyncWay::kAfter;
    case SyncWay::kQueue:
    case SyncWay::kAfter:
    case SyncWay::kEvent:
    case SyncWay::kRecord:
    case SyncWay::kWait:
    case SyncWay::kBarrier:
    case SyncWay::kHostWait:
      return way;
  }
  return SyncWay::kAfter;
}

void GraphMaker::join(std::size_t earlier, const Done& later, OpSpec& spec) {
  const SyncWay way = way_to_join(earlier, later);
  OpSpec& before = ops_[done_[earlier].spec];
  const std::string_view queue = queues_[done_[earlier].queue].name;
  switch (way) {
    case SyncWay::kQueue:
    case SyncWay::kAfter:
      spec.after.push_back({before.name});
      return;
    case SyncWay::kEvent: {
      const std::string_view event = fresh("e");
      before.signals.push_back({.event = event});
      spec.waits.push_back({.kind = WaitKind::kEvent, .target = event});
      return;
    }
    case SyncWay::kCounting:
    case SyncWay::kConsuming:
    case SyncWay::kTimeline:
      join_by_count(before, spec, way);
      return;
    case SyncWay::kPending:
      spec.waits.push_back(
          {.kind = WaitKind::kPending, .target = queue, .value = submitted_since(earlier)});
      return;
    case SyncWay::kOutstanding: {
      const bool is_prefix = conditions_.empty() && is_in_order(done_[earlier].queue);
      spec.waits.push_back({.kind = WaitKind::kOutstanding,
                            .target = queue,
                            .value = is_prefix ? submitted_since(earlier) : 0});
      return;
    }
    case SyncWay::kRecord:
    case SyncWay::kWait:
    case SyncWay::kBarrier:
    case SyncWay::kHostWait:
      join_by_command(earlier, later, spec, way);
      return;
  }
}

void GraphMaker::join_by_count(OpSpec& before, OpSpec& spec, SyncWay way) {
  const std::string_view semaphore = fresh("s");
  const bool is_timeline = way == SyncWay::kTimeline;
  semaphores_.push_back({.name = semaphore, .kind = is_timeline ? "timeline" : "counting"});
  ExprSpec turn = std::int64_t{1};
  if (iterations_ > 1) turn = std::string_view("iteration + 1");
  before.signals.push_back(
      {.semaphore = semaphore, .value = is_timeline ? turn : ExprSpec(std::int64_t{1})});
  const bool takes = way == SyncWay::kConsuming;
  spec.waits.push_back({.kind = WaitKind::kSemaphore,
                        .target = semaphore,
                        .value = takes ? ExprSpec(std::int64_t{1}) : turn,
                        .consume = takes});
}

void GraphMaker::join_by_command(std::size_t earlier, const Done& later, OpSpec& spec,
                                 SyncWay way) {
  const std::string_view from = queues_[done_[earlier].queue].name;
  const std::string_view to = queues_[later.queue].name;
  if (way == SyncWay::kBarrier) {
    OpSpec barrier{.name = fresh("barrier"), .kind = "barrier", .queues = {from}};
    if (from != to) barrier.queues.push_back(to);
    ops_.push_back(barrier);
    return;
  }
  if (way == SyncWay::kHostWait) {
    ops_.push_back({.name = fresh("host_wait"),
                    .kind = "host_wait",
                    .wait_for = WaitSpec{.kind = WaitKind::kQueue, .target = from}});
    return;
  }
  const std::string_view event = fresh("e");
  if (way == SyncWay::kRecord) {
    ops_.push_back({.name = fresh("record"), .kind = "record", .queue = from, .event = event});
    spec.waits.push_back({.kind = WaitKind::kEvent, .target = event});
    return;
  }
  ops_[done_[earlier].spec].signals.push_back({.event = event});
  ops_.push_back({.name = fresh("wait"), .kind = "wait", .queue = to, .event = event});
}

/// What conflicts with an access of a later iteration comes before it.
void GraphMaker::join_iterations() {
  std::set<std::tuple<std::size_t, std::size_t, std::int64_t>> joined;
  for (const std::vector<Use>& family : uses_) {
    for (const Use& first : family) {
      for (const Use& last : family) {
        if (!conflict(first, last)) continue;
        const std::int64_t slots = tensors_[first.tensor].slots;
        const std::int64_t apart = first.distance - last.distance - 1;
        const std::int64_t distance = ((apart % slots) + slots) % slots + 1;
        const Done& from = done_[last.op];
        const bool by_queue = from.queue == done_[first.op].queue && is_in_order(from.queue);
        if (by_queue || queues_[from.queue].order == "host") continue;
        if (distance >= iterations_) continue;
        if (joined.emplace(first.op, last.op, distance).second) join_back(first, last, distance);
      }
    }
  }
}

void GraphMaker::join_back(const Use& first, const Use& last, std::int64_t distance) {
  OpSpec& spec = ops_[done_[first.op].spec];
  OpSpec& before = ops_[done_[last.op].spec];
  const bool both_run = done_[first.op].condition < 0 && done_[last.op].condition < 0;
  const bool in_turn = is_in_order(done_[last.op].queue) && is_in_order(done_[first.op].queue);
  if (both_run && in_turn && draw_.percent(wish_.sync == SyncWay::kConsuming ? 80 : 20)) {
    const std::string_view credits = fresh("s");
    semaphores_.push_back({.name = credits, .initial = distance});
    before.signals.push_back({.semaphore = credits});
    spec.waits.push_back({.kind = WaitKind::kSemaphore, .target = credits, .consume = true});
    return;
  }
  spec.after.push_back({before.name, distance});
}

}  // namespace memverify
