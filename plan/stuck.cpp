#include "plan/stuck.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostInstances = 50'000;
constexpr std::int64_t kMostSteps = 2'000'000;  ///< Instances looked at for one chain.

/// What holds one command back: in words, and a command that would have to go on first.
struct Held {
  std::string why;
  std::optional<StuckAt> by;
  SemaphoreId semaphore = kNone<SemaphoreId>;
};

/// The state in which a run blocks.
class StuckState {
 public:
  StuckState(const Plan& plan, const Finding& finding) : plan_(plan), finding_(finding) {
    iterations_ = plan.iterations.value_or(finding.iteration[0] + 1);
    for (const Step& step : finding.witness) {
      (step.complete ? completed_ : started_).insert({step.iteration, step.op});
      if (!plan.iterations) iterations_ = std::max(iterations_, step.iteration + 1);
    }
  }

  bool is_small() const {
    return iterations_ <= kMostInstances / std::max<std::int64_t>(std::ssize(plan_.ops), 1);
  }
  /// Command instances; at most kMostInstances where `is_small()`.
  std::int64_t size() const { return iterations_ * std::ssize(plan_.ops); }

  std::optional<Held> held(StuckAt at) const {
    const Op& op = plan_.ops[at.op];
    if (!is_started(at)) {
      for (const After& after : plan_.after_of(op)) {
        const StuckAt other{after.op, at.iteration - std::int64_t{after.distance}};
        if (blocks(other)) return Held{"waits for " + name(other) + " to complete", other};
      }
      if (op.kind == OpKind::kWait) {
        if (auto held = by_event(at, op.event)) return held;
      }
      for (const Wait& wait : plan_.waits_of(op)) {
        if (auto held = by_wait(at, wait)) return held;
      }
      if (auto held = by_thread(at)) return held;
      if (auto held = by_queue(at)) return held;
    }
    if (op.kind != OpKind::kRecord) return std::nullopt;
    const auto other = first_before(at, [&](StuckAt x) { return on_queue(x.op, op.queue); });
    if (!other) return std::nullopt;
    return Held{"records only after " + name(*other) + " on its queue", other};
  }

  std::string name(StuckAt at) const { return op_name(plan_, at.op, at.iteration); }

 private:
  using Key = std::pair<std::int64_t, OpId>;

  bool is_completed(StuckAt at) const { return completed_.contains({at.iteration, at.op}); }
  bool is_started(StuckAt at) const { return started_.contains({at.iteration, at.op}); }

  bool is_there(StuckAt at) const {
    const Op& op = plan_.ops[at.op];
    if (op.kind == OpKind::kView || at.iteration < 0 || at.iteration >= iterations_) return false;
    if (op.runs == Runs::kFirst && at.iteration != 0) return false;
    if (op.runs == Runs::kLast && at.iteration != iterations_ - 1) return false;
    return op.skipped_pass || holds(op, at.iteration);
  }
  bool holds(const Op& op, std::int64_t iteration) const {
    return std::ranges::all_of(plan_.when_of(op), [&](const WhenTerm& term) {
      return std::ranges::none_of(finding_.when, [&](const ConditionValue& value) {
        return value.condition == term.condition && value.value != term.value &&
               (value.iteration < 0 || value.iteration == iteration);
      });
    });
  }
  bool blocks(StuckAt at) const { return is_there(at) && !is_completed(at); }

  bool on_queue(OpId id, QueueId queue) const {
    const Op& op = plan_.ops[id];
    if (queue == kNone<QueueId>) return false;
    if (op.kind != OpKind::kBarrier) return op.queue == queue;
    return std::ranges::count(plan_.queues_of(op), queue) > 0;
  }

  /// The first incomplete command before `at` in program order that `wanted` holds of.
  template <typename Wanted>
  std::optional<StuckAt> first_before(StuckAt at, Wanted wanted) const {
    for (std::int64_t i = 0; i <= at.iteration; ++i) {
      for (const OpId id : ids(plan_.ops)) {
        if (i == at.iteration && id >= at.op) return std::nullopt;
        if (blocks({id, i}) && wanted(StuckAt{id, i})) return StuckAt{id, i};
      }
    }
    return std::nullopt;
  }

  std::optional<Held> by_event(StuckAt at, EventId event) const {
    for (std::int64_t i = at.iteration; i >= 0; --i) {
      auto id = static_cast<std::uint32_t>(i == at.iteration ? index(at.op) : plan_.ops.size());
      while (id-- > 0) {
        const StuckAt other{static_cast<OpId>(id), i};
        if (!is_there(other) || !fires_event(plan_.ops[other.op], event)) continue;
        if (is_completed(other)) return std::nullopt;
        return Held{"waits for event " + quoted(plan_.events[event]) + ", which " + name(other) +
                        " records",
                    other};
      }
    }
    return std::nullopt;
  }
  bool fires_event(const Op& op, EventId event) const {
    if (op.kind == OpKind::kRecord && op.event == event) return true;
    return std::ranges::any_of(plan_.signals_of(op),
                               [&](const Signal& signal) { return signal.event == event; });
  }

  std::optional<std::int64_t> value(const Expr& expr, std::int64_t iteration) const {
    Valuation valuation;
    for (const Symbol& symbol : plan_.symbols) valuation.symbols.push_back(least_value(symbol));
    for (const SymbolValue& one : finding_.symbols) {
      valuation.symbols[index(one.symbol)] = one.value;
    }
    valuation.iteration = iteration;
    return plan_.formulas.eval(expr, valuation);
  }

  std::optional<Held> by_wait(StuckAt at, const Wait& wait) const {
    const auto waits = [&](auto wanted) -> std::optional<Held> {
      const auto other = first_before(at, wanted);
      if (!other) return std::nullopt;
      return Held{"waits for " + wait_words(plan_, at.op, wait) + ", and " + name(*other) +
                      " has not completed",
                  other};
    };
    switch (wait.kind) {
      case WaitKind::kEvent:
        return by_event(at, wait.event);
      case WaitKind::kSemaphore:
        return by_semaphore(at, wait);
      case WaitKind::kQueue:
        return waits([&](StuckAt x) { return on_queue(x.op, wait.queue); });
      case WaitKind::kAll:
        return waits([](StuckAt) { return true; });
      case WaitKind::kPending:
      case WaitKind::kOutstanding:
        return by_count(at, wait);
    }
    return std::nullopt;
  }

  std::optional<Held> by_count(StuckAt at, const Wait& wait) const {
    std::vector<StuckAt> counted;
    for (std::int64_t i = 0; i <= at.iteration; ++i) {
      for (const OpId id : ids(plan_.ops)) {
        if (i == at.iteration && id >= at.op) break;
        const bool counts = is_counted(plan_.ops[id].kind) && plan_.ops[id].queue == wait.queue;
        if (counts && is_there({id, i})) counted.push_back({id, i});
      }
    }
    const auto allowed = static_cast<std::size_t>(value(wait.value, at.iteration).value_or(0));
    if (wait.kind == WaitKind::kPending) {
      counted.resize(counted.size() - std::min(counted.size(), allowed));
    }
    std::erase_if(counted, [&](StuckAt x) { return is_completed(x); });
    if (counted.size() <= (wait.kind == WaitKind::kPending ? 0 : allowed)) return std::nullopt;
    return Held{"waits for " + wait_words(plan_, at.op, wait) + ", and " + name(counted.front()) +
                    " has not completed",
                counted.front()};
  }

  std::optional<Held> by_semaphore(StuckAt at, const Wait& wait) const {
    const Semaphore& semaphore = plan_.semaphores[wait.semaphore];
    std::int64_t count = value(semaphore.initial, 0).value_or(0);
    std::vector<std::string> takers;
    std::optional<StuckAt> signaller;
    bool some_signal = false;
    for (std::int64_t i = 0; i < iterations_; ++i) {
      for (const OpId id : ids(plan_.ops)) {
        if (!is_there({id, i})) continue;
        for (const Signal& signal : plan_.signals_of(plan_.ops[id])) {
          if (signal.semaphore != wait.semaphore) continue;
          some_signal = true;
          const std::int64_t by = value(signal.value, i).value_or(0);
          if (is_completed({id, i})) {
            count = semaphore.timeline ? std::max(count, by) : count + by;
          } else if (!signaller && StuckAt{id, i} != at) {
            signaller = {id, i};
          }
        }
        for (const Wait& take : plan_.waits_of(plan_.ops[id])) {
          if (take.semaphore != wait.semaphore || !take.consume || !is_started({id, i})) continue;
          count -= value(take.value, i).value_or(0);
          takers.push_back(name({id, i}));
        }
      }
    }
    if (count >= value(wait.value, at.iteration).value_or(0)) return std::nullopt;
    if (takers.size() > 4) {
      takers.resize(4);
      takers.emplace_back("others");
    }
    std::string why = "waits for " + wait_words(plan_, at.op, wait);
    if (!signaller || !takers.empty()) {
      why += ": it is at " + std::to_string(count);
      if (!takers.empty()) why += " after " + listed(takers) + " took from it";
      if (!signaller) {
        why += some_signal ? ", and no signal is left that could come" : "";
      }
    }
    return Held{why, signaller, wait.semaphore};
  }

  /// The first place at which the thread of `at` stands, if that is before `at` is submitted.
  std::optional<Held> by_thread(StuckAt at) const {
    const ThreadId thread = plan_.ops[at.op].thread;
    std::vector<std::vector<StuckAt>> open(plan_.queues.size());  // Incomplete ops by queue.
    for (std::int64_t i = 0; i <= at.iteration; ++i) {
      for (const OpId id : ids(plan_.ops)) {
        if (i == at.iteration && id > at.op) return std::nullopt;
        const StuckAt here{id, i};
        if (!is_there(here)) continue;
        const Op& op = plan_.ops[id];
        const bool counts = is_counted(op.kind) && op.queue != kNone<QueueId>;
        if (op.thread == thread && counts) {
          const Queue& queue = plan_.queues[op.queue];
          const std::vector<StuckAt>& before = open[index(op.queue)];
          if (queue.depth && std::ssize(before) >= *queue.depth) {
            const std::string full = "depth " + std::to_string(*queue.depth) + " of queue " +
                                     quoted(queue.name) + ", where " + name(before.front()) +
                                     " has not completed";
            return Held{here == at ? "is not submitted: thread " + quoted(plan_.threads[thread]) +
                                         " is blocked by " + full
                                   : "is not submitted: thread " + quoted(plan_.threads[thread]) +
                                         " is blocked at " + name(here) + " by " + full,
                        before.front()};
          }
        }
        if (is_completed(here)) continue;
        if (counts) open[index(op.queue)].push_back(here);
        const bool host =
            op.kind == OpKind::kHostWait ||
            (op.queue != kNone<QueueId> && plan_.queues[op.queue].order == QueueOrder::kHost);
        if (op.thread == thread && host && here != at) {
          return Held{"is not submitted: thread " + quoted(plan_.threads[thread]) +
                          " is blocked at " + name(here),
                      here};
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Held> by_queue(StuckAt at) const {
    const Op& op = plan_.ops[at.op];
    std::vector<QueueId> queues;
    if (op.kind == OpKind::kBarrier) {
      queues.assign(plan_.queues_of(op).begin(), plan_.queues_of(op).end());
    } else if (op.queue != kNone<QueueId>) {
      queues.push_back(op.queue);
    }
    for (const QueueId queue : queues) {
      const QueueOrder order = plan_.queues[queue].order;
      const bool all =
          op.kind == OpKind::kBarrier || order == QueueOrder::kSerial || order == QueueOrder::kHost;
      const auto other = first_before(at, [&](StuckAt x) {
        if (!on_queue(x.op, queue)) return false;
        const OpKind kind = plan_.ops[x.op].kind;
        return all || kind == OpKind::kWait || kind == OpKind::kBarrier ||
               (order == QueueOrder::kIssue && !is_started(x));
      });
      if (other) {
        return Held{"comes after " + name(*other) + " on queue " + quoted(plan_.queues[queue].name),
                    other};
      }
    }
    return std::nullopt;
  }

  const Plan& plan_;
  const Finding& finding_;
  std::int64_t iterations_ = 1;
  std::set<Key> completed_;
  std::set<Key> started_;
};

}  // namespace

StuckChain stuck_chain(const Plan& plan, const Finding& finding) {
  StuckChain chain;
  if (finding.ops.empty() || finding.iteration.empty()) return chain;
  const StuckState state(plan, finding);
  if (!state.is_small()) return chain;
  StuckAt at{finding.ops[0], finding.iteration[0]};
  for (;;) {
    const auto known = std::ranges::find(chain.links, at, &StuckLink::who);
    if (known != chain.links.end()) {
      chain.cycle = static_cast<std::size_t>(known - chain.links.begin());
      return chain;
    }
    const std::optional<Held> held = state.held(at);
    if (!held || std::ssize(chain.links) * state.size() > kMostSteps) return {};
    chain.links.push_back({at, held->why, held->semaphore});
    if (!held->by) {
      chain.cycle = chain.links.size();
      return chain;
    }
    at = *held->by;
  }
}

}  // namespace memverify
