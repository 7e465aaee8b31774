#include "verify/wait_candidates.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "plan/layout.h"
#include "verify/cases.h"
#include "verify/order.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {
namespace {

constexpr std::uint32_t kMostDistance = 4;

/// What a wait between two commands of a plan that runs once would add: nothing where they are
/// ordered, a deadlock where they are ordered the other way round.
class KnownOrder {
 public:
  explicit KnownOrder(const Plan& plan) {
    if (plan.iterations != 1 || !plan.when_terms.empty() || !plan.symbols.empty()) return;
    const Valuation none;
    Result<Layout> layout = Layout::make(plan, none);
    if (!layout.ok()) return;
    layout_ = std::move(layout).value();
    program_ = make_program(plan, *layout_, ConditionCase(plan, 1), 1);
    if (!program_.contended.empty()) return;
    walk_ = walk(program_);
    order_.emplace(program_, walk_);
    if (!order_->is_known()) order_.reset();
  }

  bool makes_pointless(const AddedWait& wait) const {
    return order_ && (before(wait.on, wait.waiter) || before(wait.waiter, wait.on));
  }

 private:
  bool before(OpId a, OpId b) const {
    const Cmd first = program_.find(a, 0);
    const Cmd second = program_.find(b, 0);
    if (first == kNoCmd || second == kNoCmd) return false;
    if (walk_.completed[first] == 0 || walk_.completed[second] == 0) return false;
    return order_->chain(first) != kNoChain && order_->before(first, second);
  }

  std::optional<Layout> layout_;
  Program program_;
  Walk walk_;
  std::optional<Order> order_;
};

}  // namespace

bool has_choice(const Plan& plan) {
  std::vector<std::optional<QueueId>> taker(plan.semaphores.size());
  for (const Op& op : plan.ops) {
    for (const Wait& wait : plan.waits_of(op)) {
      if (wait.kind != WaitKind::kSemaphore) continue;
      if (std::ranges::none_of(plan.waits, [&](const Wait& other) {
            return other.kind == WaitKind::kSemaphore && other.semaphore == wait.semaphore &&
                   other.consume;
          })) {
        continue;
      }
      std::optional<QueueId>& queue = taker[index(wait.semaphore)];
      const bool is_ordered =
          op.queue != kNone<QueueId> && plan.queues[op.queue].order != QueueOrder::kNone;
      if (!is_ordered || queue.value_or(op.queue) != op.queue) return true;
      queue = op.queue;
    }
  }
  return false;
}

std::uint32_t widest_distance(const Plan& plan, const EngineResult& found) {
  if (plan.iterations == 1) return 0;
  std::int64_t widest = 1;
  for (const Finding& finding : found.findings) {
    if (finding.iteration.size() != 2) continue;
    widest = std::max(widest, std::abs(finding.iteration[1] - finding.iteration[0]));
  }
  return static_cast<std::uint32_t>(std::min<std::int64_t>(widest, kMostDistance));
}

bool has_distance_above(const Plan& plan, std::uint32_t widest) {
  return !plan.iterations || *plan.iterations - 1 > std::int64_t{widest};
}

std::vector<AddedWait> candidates_of(const Plan& plan, std::uint32_t widest) {
  std::vector<AddedWait> candidates;
  const KnownOrder known(plan);
  for (const OpId waiter : ids(plan.ops)) {
    if (plan.ops[waiter].kind == OpKind::kView) continue;
    for (const OpId on : ids(plan.ops)) {
      if (plan.ops[on].kind == OpKind::kView) continue;
      for (std::uint32_t distance = waiter == on ? 1 : 0; distance <= widest; ++distance) {
        const AddedWait wait{waiter, on, distance};
        if (!known.makes_pointless(wait)) candidates.push_back(wait);
      }
    }
  }
  return candidates;
}

std::vector<AddedWait> waits_between(const Plan& plan, std::span<const Finding> findings) {
  std::vector<AddedWait> waits;
  const auto add = [&](OpId waiter, std::int64_t at, OpId on, std::int64_t on_at) {
    const std::int64_t distance = at - on_at;
    const bool is_possible = distance >= 0 && (distance > 0 || waiter != on) &&
                             distance <= std::numeric_limits<std::uint32_t>::max() &&
                             plan.ops[waiter].kind != OpKind::kView &&
                             plan.ops[on].kind != OpKind::kView;
    const AddedWait wait{waiter, on, static_cast<std::uint32_t>(distance)};
    if (is_possible && std::ranges::count(waits, wait) == 0) waits.push_back(wait);
  };
  for (const Finding& f : findings) {
    if (info(f.rule).severity != Severity::kError || f.ops.empty() || f.rule == Rule::kDeadlock)
      continue;
    const auto at = [&](std::size_t i) {
      return i < f.iteration.size() ? f.iteration[i] : std::int64_t{0};
    };
    if (f.expected != kNone<OpId>) add(f.ops[0], at(0), f.expected, f.expected_iteration);
    if (f.ops.size() == 2) {
      add(f.ops[1], at(1), f.ops[0], at(0));
      if (f.expected != kNone<OpId>) add(f.ops[1], at(1), f.expected, f.expected_iteration);
    }
  }
  return waits;
}

}  // namespace memverify
