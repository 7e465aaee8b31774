#include "verify/horizon.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "plan/words.h"
#include "verify/turns.h"

namespace memverify {
namespace {

constexpr std::int64_t kMaxIterations = std::int64_t{1} << 20;
/// Of values, and of what a count grows by: times kMaxIterations it fits 64 bits.
constexpr std::int64_t kMaxValue = std::int64_t{1} << 36;

/// The value of a semaphore once all of the iterations before `j >= from` have completed:
/// `value + slope * (j - from)`.
struct Count {
  std::int64_t value = 0;
  std::int64_t slope = 0;
  std::int64_t from = 0;
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

bool is_large(std::int64_t v) { return v > kMaxValue || v < -kMaxValue; }

class HorizonFinder {
 public:
  HorizonFinder(const Plan& plan, const Layout& layout, const ConditionCase& conditions)
      : plan_(plan), layout_(layout), conditions_(conditions) {}

  Horizon find() {
    look_at_ops();
    const Turns turns = find_turns(plan_, layout_, kMaxIterations);
    if (turns.all < kMaxIterations) result_.phases = static_cast<std::uint64_t>(turns.all);
    window_ = 2 * turns.longest + reach_ + 1;
    if (turns.longest >= kMaxIterations) {
      stop("its rotating storages share bytes only after more than " +
           std::to_string(kMaxIterations) + " iterations");
    }
    for (SemaphoreId id : ids(plan_.semaphores)) {
      if (result_.obstacle.empty()) look_at_semaphore(id);
    }
    if (steady_ + window_ > kMaxIterations) {
      stop("its semaphores need more than " + std::to_string(kMaxIterations) +
           " iterations until they repeat");
    }
    if (result_.obstacle.empty()) {
      result_.turn = static_cast<std::uint32_t>(turns.longest);
      result_.steady = static_cast<std::uint32_t>(steady_);
      result_.shows = static_cast<std::uint32_t>(steady_ + window_);
    }
    return result_;
  }

 private:
  void stop(std::string why) {
    if (result_.obstacle.empty()) result_.obstacle = std::move(why);
  }

  bool is_dropped(const Op& op) const {
    if (op.kind == OpKind::kView) return true;
    return !op.skipped_pass && std::ranges::any_of(plan_.when_of(op), [&](const WhenTerm& term) {
      return conditions_.value(term.condition, 0) != term.value;
    });
  }

  void look_at_ops() {
    bool first_touches = false;
    bool last_touches = false;
    const Op* unordered = nullptr;    // In the loop, on a queue that orders not even starts.
    const Op* overlapping = nullptr;  // In the loop, touching bytes, completing out of order.
    for (const Op& op : plan_.ops) {
      for (const WhenTerm& term : plan_.when_of(op)) {
        if (plan_.conditions[term.condition].per_run) continue;
        stop("condition " + quoted(plan_.conditions[term.condition].name) +
             " may change from one iteration to the next");
      }
      if (is_dropped(op)) continue;
      const bool touches = !op.accesses.empty() || op.kind == OpKind::kAlloc ||
                           op.kind == OpKind::kFree || op.kind == OpKind::kUnknown;
      for (const Access& access : plan_.accesses_of(op)) {
        reach_ = std::max<std::int64_t>(reach_, access.distance);
      }
      first_touches = first_touches || (op.runs == Runs::kFirst && touches);
      last_touches = last_touches || (op.runs == Runs::kLast && touches);
      if (op.runs == Runs::kFirst || op.queue == kNone<QueueId>) continue;
      const QueueOrder order = plan_.queues[op.queue].order;
      if (order == QueueOrder::kNone) unordered = &op;
      if (op.runs == Runs::kAlways && touches && !completes_in_order(order)) overlapping = &op;
    }
    if (first_touches && unordered != nullptr) {
      stop("an op that runs first touches bytes, and queue " +
           quoted(plan_.queues[unordered->queue].name) + " of " + quoted(unordered->name) +
           " gives its later commands no order");
    }
    if (last_touches && overlapping != nullptr) {
      stop("an op that runs last touches bytes, and the completions of " +
           quoted(overlapping->name) + " on queue " +
           quoted(plan_.queues[overlapping->queue].name) + " are in no order");
    }
  }

  // --- semaphores ---

  template <typename Visit>  // visit(op, value of a wait)
  void for_each_wait(SemaphoreId id, Visit&& visit) const {
    for (const Op& op : plan_.ops) {
      if (is_dropped(op)) continue;
      for (const Wait& wait : plan_.waits_of(op)) {
        if (wait.kind == WaitKind::kSemaphore && wait.semaphore == id) visit(op, wait);
      }
    }
  }
  template <typename Visit>  // visit(op, value of a signal)
  void for_each_signal(SemaphoreId id, Visit&& visit) const {
    for (const Op& op : plan_.ops) {
      if (is_dropped(op)) continue;
      for (const Signal& signal : plan_.signals_of(op)) {
        if (signal.semaphore == id) visit(op, signal.value);
      }
    }
  }

  void stop_large(SemaphoreId id) {
    stop("the values of semaphore " + quoted(plan_.semaphores[id].name) + " are too large");
  }

  /// The line that a value follows; an obstacle if there is none that can be counted on.
  Trend trend(SemaphoreId id, Expr value) {
    const std::optional<Trend> line = plan_.formulas.trend(value, layout_.valuation());
    if (!line) {
      stop("a value of semaphore " + quoted(plan_.semaphores[id].name) + ", `" +
           plan_.formulas.to_string(value) + "`, is no straight line in `iteration`");
      return {};
    }
    if (is_large(line->value) || is_large(line->slope) || line->from > kMaxIterations) {
      stop_large(id);
      return {};
    }
    return *line;
  }

  std::int64_t value_at(Expr value, std::int64_t iteration) const {
    Valuation valuation = layout_.valuation();
    valuation.iteration = iteration;
    return std::min(plan_.formulas.eval(value, valuation).value_or(0), kMaxValue);
  }

  void look_at_semaphore(SemaphoreId id) {
    bool waits = false;
    std::int64_t from = 1;
    for_each_wait(id, [&](const Op&, const Wait& wait) {
      waits = true;
      from = std::max(from, trend(id, wait.value).from);
    });
    if (!waits) return;
    look_at_takers(id);
    QueueId queue = kNone<QueueId>;
    bool one_queue = true;
    for_each_signal(id, [&](const Op& op, Expr value) {
      if (queue == kNone<QueueId>) queue = op.queue;
      one_queue = one_queue && op.queue != kNone<QueueId> && op.queue == queue &&
                  completes_in_order(plan_.queues[op.queue].order);
      from = std::max(from, trend(id, value).from);
    });
    if (is_large(layout_.value(plan_.semaphores[id].initial))) stop_large(id);
    if (!one_queue) {
      stop("semaphore " + quoted(plan_.semaphores[id].name) +
           " is signalled out of order, or on several queues, so that iterations may stand in for "
           "each other");
    }
    if (!result_.obstacle.empty()) return;
    last_signals_ = 0;
    const Count count = plan_.semaphores[id].timeline ? timeline(id, from) : counting(id, from);
    if (!result_.obstacle.empty()) return;
    look_at_waits(id, count, from);
  }

  /// What waits take is known before each of them if they come one after the other in every run.
  void look_at_takers(SemaphoreId id) {
    bool takes = false;
    bool in_turn = true;
    const Op* other = nullptr;
    for_each_wait(id, [&](const Op& op, const Wait& wait) {
      takes = takes || wait.consume;
      const bool is_host = op.kind == OpKind::kHostWait;
      in_turn = in_turn && (is_host || (op.queue != kNone<QueueId> &&
                                        completes_in_order(plan_.queues[op.queue].order)));
      if (other != nullptr) {
        in_turn = in_turn && is_host == (other->kind == OpKind::kHostWait) &&
                  (is_host ? op.thread == other->thread : op.queue == other->queue);
      }
      other = &op;
    });
    if (takes && !in_turn) {
      stop("waits that may come in any order take from semaphore " +
           quoted(plan_.semaphores[id].name));
    }
  }

  /// A wait wants its value beyond what the waits before it have taken: `taken` in the iterations
  /// before (the line goes back from `from`), `earlier` in its own.
  void look_at_waits(SemaphoreId id, const Count& count, std::int64_t from) {
    std::int64_t taken = 0;
    std::int64_t each_time = 0;
    for_each_wait(id, [&](const Op& op, const Wait& wait) {
      if (!wait.consume) return;
      const Trend line = trend(id, wait.value);
      if (line.slope != 0) {
        stop("the amounts taken from semaphore " + quoted(plan_.semaphores[id].name) + " grow");
      }
      if (op.runs == Runs::kAlways) each_time += line.value;
      const std::int64_t end = op.runs == Runs::kFirst ? 1 : op.runs == Runs::kLast ? 0 : from;
      for (std::int64_t i = 0; i < end && !is_large(taken); ++i) taken += value_at(wait.value, i);
      if (is_large(taken) || is_large(each_time)) stop_large(id);
    });
    if (!result_.obstacle.empty()) return;
    std::int64_t earlier = 0;
    for_each_wait(id, [&](const Op& op, const Wait& wait) {
      if (op.runs == Runs::kFirst) return;
      Trend line = trend(id, wait.value);
      const std::int64_t amount = wait.consume ? line.value : 0;
      line.value += taken - each_time * from + earlier;
      line.slope += each_time;
      look_at_wait(count, line);
      earlier += amount;
      if (is_large(earlier)) stop_large(id);
    });
  }

  Count counting(SemaphoreId id, std::int64_t from) {
    Count count{.value = layout_.value(plan_.semaphores[id].initial), .from = from};
    for_each_signal(id, [&](const Op& op, Expr value) {
      const Trend line = trend(id, value);
      if (line.slope != 0) {
        stop("the amounts that semaphore " + quoted(plan_.semaphores[id].name) +
             " is signalled with grow");
      }
      if (op.runs == Runs::kLast) {
        last_signals_ = std::min(last_signals_ + line.value, kMaxValue);
        return;
      }
      if (op.runs == Runs::kAlways) count.slope += line.value;
      const std::int64_t end = op.runs == Runs::kFirst ? 1 : from;
      for (std::int64_t i = 0; i < end; ++i) {
        count.value = std::min(count.value + value_at(value, i), kMaxValue);
      }
      if (is_large(count.slope)) stop_large(id);
    });
    return count;
  }

  Count timeline(SemaphoreId id, std::int64_t from) {
    std::int64_t value = layout_.value(plan_.semaphores[id].initial);
    std::optional<Trend> highest;
    std::optional<std::int64_t> slope;
    for_each_signal(id, [&](const Op& op, Expr signal) {
      if (op.runs == Runs::kFirst) {
        value = std::max(value, value_at(signal, 0));
        return;
      }
      const Trend line = trend(id, signal);
      if (line.slope < 0 || slope.value_or(line.slope) != line.slope) {
        stop("the values that semaphore " + quoted(plan_.semaphores[id].name) +
             " is signalled with do not grow alike");
      }
      slope = line.slope;
      if (op.runs == Runs::kLast) {
        last_signals_ = std::max(last_signals_, 2 * kMaxValue);
        return;
      }
      for (std::int64_t i = 0; i <= from; ++i) value = std::max(value, value_at(signal, i));
      if (!highest || highest->value < line.value) highest = line;
    });
    if (!highest || highest->slope == 0) return {value, 0, from + 1};
    // From j on, iteration j - 1 has set its highest value, and that is above all before it.
    const std::int64_t behind = value - highest->value;
    const std::int64_t j =
        std::max(from + 1, (behind > 0 ? divide_up(behind, highest->slope) : 0) + 1);
    return {highest->value + highest->slope * (j - 1), highest->slope, j};
  }

  /// When do waits of value `w` look the same in all iterations?
  void look_at_wait(const Count& count, const Trend& w) {
    steady_ = std::max({steady_, count.from, w.from});
    if (steady_ > kMaxIterations) return;
    const std::int64_t from = steady_;
    const auto reached = [&](std::int64_t j) {
      return count.value + count.slope * (j - count.from);
    };
    const auto wanted = [&](std::int64_t i) { return w.value + w.slope * i; };
    if (w.slope < count.slope) {
      // Met by what came before, for as far as one looks.
      const std::int64_t ahead = w.slope > 0 ? w.slope * window_ : 0;
      const std::int64_t missing = wanted(from) + ahead - reached(from);
      if (missing > 0) steady_ = from + divide_up(missing, count.slope - w.slope);
    } else if (w.slope > count.slope) {
      // Iteration i wants more than all up to it, and an op that runs last, leave.
      const std::int64_t left = reached(from + 1) + last_signals_ - wanted(from);
      const std::int64_t i = from + (left >= 0 ? left / (w.slope - count.slope) + 1 : 0);
      steady_ = i + 1;
      result_.runs_dry = true;
    }
  }

  const Plan& plan_;
  const Layout& layout_;
  const ConditionCase& conditions_;
  Horizon result_;
  std::int64_t reach_ = 0;   ///< The greatest distance of an access.
  std::int64_t window_ = 1;  ///< Iterations that are looked at beyond `steady_`.
  std::int64_t steady_ = 1;
  std::int64_t last_signals_ = 0;  ///< What ops that run last may add to a count at most.
};

}  // namespace

Horizon find_horizon(const Plan& plan, const Layout& layout, const ConditionCase& conditions) {
  return HorizonFinder(plan, layout, conditions).find();
}

}  // namespace memverify
