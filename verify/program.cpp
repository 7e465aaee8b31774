#include "verify/program.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <optional>

namespace memverify {

ConditionCase::ConditionCase(const Plan& plan, std::uint32_t iterations)
    : iterations_(iterations), values_(plan.conditions.size() * iterations, 0) {}

Cmd Program::find(OpId op, std::int64_t iteration) const {
  if (iteration < 0 || iteration >= iterations) return kNoCmd;
  const std::size_t place = static_cast<std::size_t>(iteration) * plan->ops.size() + index(op);
  if (!by_op.empty()) return by_op[place];
  return place < instances.size() ? static_cast<Cmd>(place) : kNoCmd;
}

namespace {

/// How the signals of one semaphore can be reasoned about without thresholds.
struct SemaphoreIndex {
  bool one_queue = false;  ///< All signals come from one queue that completes in order.
  std::int64_t total = 0;
  std::vector<std::int64_t> reached;  ///< After signal k: the running sum, or the running maximum.
};

class ProgramMaker {
 public:
  ProgramMaker(const Plan& plan, const Layout& layout, const ConditionCase& conditions,
               std::uint32_t iterations, bool reaches_end)
      : plan_(plan), layout_(layout), conditions_(conditions) {
    program_.plan = &plan;
    program_.layout = &layout;
    program_.iterations = iterations;
    program_.reaches_end = reaches_end;
    valuation_ = layout.valuation();
  }

  // Flat, for the many calls of push_back are not inlined else: 47 million instructions become 40
  // at 10^5 ops.
  [[gnu::flatten]] Program make() {
    set_up();
    // Who signals a semaphore, or comes before an `after`, may come later than who needs it.
    const bool looks_ahead = !plan_.semaphores.empty() || !plan_.afters.empty();
    Cmd bound = 0;
    const auto bind = [&] {
      for (; bound < program_.instances.size(); ++bound) bind_command(bound);
    };
    for (std::uint32_t iteration = 0; iteration < program_.iterations; ++iteration) {
      for (const OpId id : ids(plan_.ops)) {
        list(id, iteration);
        if (!looks_ahead) bind();
      }
    }
    if (looks_ahead) {
      index_semaphores();
      find_contended();
      bind();
    }
    for (std::size_t event = 0; event < last_signal_.size(); ++event) {
      program_.some_unheard |= last_signal_[event] != kNoCmd && is_waited_for_[event] == 0;
    }
    return std::move(program_);
  }

 private:
  enum class Fate : std::uint8_t { kRuns, kPasses, kDropped };

  Fate fate(const Op& op, std::uint32_t iteration) const {
    if (op.kind == OpKind::kView) return Fate::kDropped;
    if (op.runs == Runs::kFirst && iteration != 0) return Fate::kDropped;
    if (op.runs == Runs::kLast && (iteration + 1 != program_.iterations || !program_.reaches_end)) {
      return Fate::kDropped;
    }
    for (const WhenTerm& term : plan_.when_of(op)) {
      if (conditions_.value(term.condition, iteration) != term.value) {
        return op.skipped_pass ? Fate::kPasses : Fate::kDropped;
      }
    }
    return Fate::kRuns;
  }

  /// The value of a semaphore wait or signal; nullopt on overflow.
  std::int64_t value(Expr expr, std::uint32_t iteration) {
    if (expr.is_constant()) return expr.constant;
    valuation_.iteration = iteration;
    const std::optional<std::int64_t> result = plan_.formulas.eval(expr, valuation_);
    if (!result) program_.bad_value = true;
    return result.value_or(0);
  }

  void set_up() {
    const std::size_t n = std::size_t{program_.iterations} * plan_.ops.size();
    program_.instances.reserve(n);
    // Of many iterations that could be far too many.
    program_.needs.reserve(plan_.waits.size() + plan_.afters.size());
    program_.queue_commands.resize(plan_.queues.size());
    program_.queue_ops.resize(plan_.queues.size());
    program_.signals.resize(plan_.semaphores.size());
    submitted_.assign(plan_.queues.size(), 0);
    last_signal_.assign(plan_.events.size(), kNoCmd);
    is_waited_for_.assign(plan_.events.size(), 0);
    thread_blocker_.assign(plan_.threads.size(), kNoCmd);
    fence_.assign(plan_.queues.size(), kNoCmd);
    program_.is_bound.assign(plan_.ops.size(), 0);
  }

  /// Adds the instance of the op in the iteration, after its gate.
  void list(OpId id, std::uint32_t iteration) {
    const Op& op = plan_.ops[id];
    const Fate what = fate(op, iteration);
    program_.has_lifetimes |= op.kind == OpKind::kAlloc || op.kind == OpKind::kFree;
    if (what == Fate::kDropped) {
      program_.some_dropped |= op.kind != OpKind::kView;
      return;
    }
    if (op.queue != kNone<QueueId> && is_counted(op.kind)) {
      const std::optional<std::int64_t>& depth = plan_.queues[op.queue].depth;
      std::uint32_t& count = submitted_[index(op.queue)];
      if (depth && *depth <= count) {
        Instance& gate = add_instance(id, iteration, what);
        gate.gate = true;
        gate.op_index = count;
      }
      ++count;
    }
    const Cmd cmd = static_cast<Cmd>(program_.instances.size());
    name_place(std::size_t{iteration} * plan_.ops.size() + index(id), cmd);
    Instance& instance = add_instance(id, iteration, what);
    instance.queue = op.queue;
    if (!plan_.semaphores.empty()) list_signals(cmd, instance, op);
  }

  /// In place: to copy what has just been stored, piece by piece, waits for the stores.
  Instance& add_instance(OpId id, std::uint32_t iteration, Fate fate) {
    Instance& instance = program_.instances.emplace_back();
    instance.op = id;
    instance.iteration = iteration;
    instance.skipped = fate == Fate::kPasses;
    return instance;
  }

  /// The places are listed from the first on that differs from its command.
  void name_place(std::size_t place, Cmd cmd) {
    std::vector<Cmd>& by_op = program_.by_op;
    if (by_op.empty()) {
      if (place == cmd) return;
      by_op.assign(std::size_t{program_.iterations} * plan_.ops.size(), kNoCmd);
      const std::size_t same = std::min<std::size_t>(place, cmd);
      std::iota(by_op.begin(), by_op.begin() + static_cast<std::ptrdiff_t>(same), Cmd{0});
    }
    by_op[place] = cmd;
  }

  void list_signals(Cmd cmd, Instance& instance, const Op& op) {
    const auto begin = static_cast<std::uint32_t>(program_.signal_items.size());
    for (const Signal& signal : plan_.signals_of(op)) {
      if (signal.semaphore == kNone<SemaphoreId>) continue;
      const std::int64_t amount = value(signal.value, instance.iteration);
      // A timeline keeps its maximum; a count that could fall again is not for clocks.
      if (amount < 0 && !plan_.semaphores[signal.semaphore].timeline) program_.bad_value = true;
      program_.signals[index(signal.semaphore)].push_back({cmd, amount});
      program_.signal_items.push_back({signal.semaphore, amount});
    }
    const auto end = static_cast<std::uint32_t>(program_.signal_items.size());
    if (begin != end) counts_of(instance).signals = {begin, end};
  }

  Counts& counts_of(Instance& instance) {
    if (instance.counts == 0) {
      instance.counts = static_cast<std::uint32_t>(program_.counts.size());
      program_.counts.emplace_back();
    }
    return program_.counts[instance.counts];
  }

  void index_semaphores() {
    semaphores_.resize(plan_.semaphores.size());
    for (SemaphoreId id : ids(plan_.semaphores)) {
      SemaphoreIndex& s = semaphores_[index(id)];
      const auto& signals = program_.signals[index(id)];
      if (signals.empty()) continue;
      const QueueId queue = program_.instances[signals.front().cmd].queue;
      s.one_queue = queue != kNone<QueueId> && completes_in_order(plan_.queues[queue].order);
      std::int64_t reached =
          plan_.semaphores[id].timeline ? std::numeric_limits<std::int64_t>::min() : 0;
      for (const SignalInstance& signal : signals) {
        s.one_queue = s.one_queue && program_.instances[signal.cmd].queue == queue;
        if (plan_.semaphores[id].timeline) {
          reached = std::max(reached, signal.value);
        } else if (__builtin_add_overflow(reached, signal.value, &reached)) {
          program_.bad_value = true;
          reached = std::numeric_limits<std::int64_t>::max();
        }
        s.reached.push_back(reached);
      }
      s.total = reached;
    }
  }

  void need(Cmd cmd) { program_.needs.push_back(cmd); }

  /// All commands of `queue` so far have completed.
  void need_all_of(QueueId queue) {
    const auto& commands = program_.queue_commands[index(queue)];
    if (commands.empty()) return;
    if (completes_in_order(plan_.queues[queue].order)) {
      need(commands.back());
    } else {
      program_.prefixes.push_back({queue, static_cast<std::uint32_t>(commands.size()), false});
    }
  }

  /// A record completes after every earlier command of its queue; where completions are in order
  /// that is so already.
  void collect_queue(QueueId queue) {
    const auto& commands = program_.queue_commands[index(queue)];
    if (commands.empty() || completes_in_order(plan_.queues[queue].order)) return;
    program_.prefixes.push_back({queue, static_cast<std::uint32_t>(commands.size()), false, true});
  }

  /// The first `count` ops of `queue` have completed.
  void need_first_ops(QueueId queue, std::uint32_t count) {
    if (count == 0) return;
    if (completes_in_order(plan_.queues[queue].order)) {
      need(program_.ops_of(queue)[count - 1]);
    } else {
      program_.prefixes.push_back({queue, count, true});
    }
  }

  /// At most `missing` of the first `ops` ops of `queue` are incomplete.
  void need_all_ops_but(QueueId queue, std::uint32_t ops, std::int64_t missing) {
    if (missing >= ops) return;
    const auto needed = static_cast<std::uint32_t>(ops - missing);
    if (completes_in_order(plan_.queues[queue].order) || missing == 0) {
      need_first_ops(queue, needed);
    } else {
      program_.thresholds.push_back({.queue = queue, .need = needed, .ops = ops});
    }
  }

  void bind_event(OpId op, EventId event) {
    is_waited_for_[index(event)] = 1;
    const Cmd source = last_signal_[index(event)];
    if (source == kNoCmd) {
      program_.some_unbound = true;
      return;
    }
    program_.is_bound[index(op)] = 1;
    need(source);
  }

  void take(Cmd cmd, const Wait& wait, std::uint32_t iteration) {
    if (std::ranges::find(program_.contended, wait.semaphore) == program_.contended.end()) {
      program_.contended.push_back(wait.semaphore);
    }
    const std::int64_t wanted = value(wait.value, iteration);
    if (wanted < 0) program_.bad_value = true;
    program_.takes.push_back({cmd, wanted, wait.consume});
  }

  void bind_semaphore(const Wait& wait, std::uint32_t iteration) {
    const SemaphoreIndex& s = semaphores_[index(wait.semaphore)];
    const bool timeline = plan_.semaphores[wait.semaphore].timeline;
    const std::int64_t initial = layout_.value(plan_.semaphores[wait.semaphore].initial);
    std::int64_t& taken = taken_[index(wait.semaphore)];
    std::int64_t wanted = value(wait.value, iteration);
    if (__builtin_add_overflow(wanted, taken, &wanted)) program_.bad_value = true;
    if (wait.consume) taken = wanted;
    if (wanted <= initial) return;
    std::int64_t needed = wanted;
    if (!timeline && __builtin_sub_overflow(wanted, initial, &needed)) program_.bad_value = true;
    const auto& signals = program_.signals[index(wait.semaphore)];
    if (s.one_queue && needed <= s.total) {
      const auto at = std::ranges::lower_bound(s.reached, needed) - s.reached.begin();
      need(signals[static_cast<std::size_t>(at)].cmd);
    } else if (!timeline && needed == s.total && !signals.empty()) {
      need_every_signal(wait.semaphore);
    } else {
      program_.thresholds.push_back({.semaphore = wait.semaphore, .need = needed});
    }
  }

  void need_every_signal(SemaphoreId id) {
    last_of_queue_.assign(plan_.queues.size(), kNoCmd);
    for (const SignalInstance& signal : program_.signals[index(id)]) {
      if (signal.value == 0) continue;
      const QueueId queue = program_.instances[signal.cmd].queue;
      if (queue != kNone<QueueId> && completes_in_order(plan_.queues[queue].order)) {
        last_of_queue_[index(queue)] = signal.cmd;
      } else {
        need(signal.cmd);
      }
    }
    for (Cmd cmd : last_of_queue_) {
      if (cmd != kNoCmd) need(cmd);
    }
  }

  void bind_wait(Cmd cmd, const Instance& instance, const Wait& wait) {
    switch (wait.kind) {
      case WaitKind::kEvent:
        bind_event(instance.op, wait.event);
        break;
      case WaitKind::kSemaphore:
        if (is_contended_[index(wait.semaphore)] != 0) {
          take(cmd, wait, instance.iteration);
        } else {
          bind_semaphore(wait, instance.iteration);
        }
        break;
      case WaitKind::kPending: {
        const auto submitted = static_cast<std::int64_t>(program_.ops_of(wait.queue).size());
        const std::int64_t count = submitted - layout_.value(wait.value);
        if (count > 0) need_first_ops(wait.queue, static_cast<std::uint32_t>(count));
        break;
      }
      case WaitKind::kOutstanding:
        need_all_ops_but(wait.queue, static_cast<std::uint32_t>(program_.ops_of(wait.queue).size()),
                         layout_.value(wait.value));
        break;
      case WaitKind::kQueue:
        need_all_of(wait.queue);
        break;
      case WaitKind::kAll:
        for (QueueId queue : ids(plan_.queues)) need_all_of(queue);
        for (Cmd blocker : thread_blocker_) {
          if (blocker != kNoCmd) need(blocker);
        }
        break;
    }
  }

  /// Semaphores of which a wait takes something that a wait elsewhere may need: those waits may
  /// come in either order. Where one queue that starts in order, or one thread, holds all waits, it
  /// has taken the same before each in every run, and what they need are counts of signals.
  void find_contended() {
    constexpr std::size_t kNobody = ~std::size_t{0};
    std::vector<std::size_t> user(plan_.semaphores.size(), kNobody);
    std::vector<std::uint8_t> has_two_users(plan_.semaphores.size(), 0);
    is_contended_.assign(plan_.semaphores.size(), 0);
    taken_.assign(plan_.semaphores.size(), 0);
    if (plan_.semaphores.empty()) return;
    for (Cmd cmd = 0; cmd < program_.instances.size(); ++cmd) {
      const Instance& instance = program_.instances[cmd];
      if (instance.gate) continue;
      for (const Wait& wait : plan_.waits_of(plan_.ops[instance.op])) {
        if (wait.kind != WaitKind::kSemaphore) continue;
        const std::size_t s = index(wait.semaphore);
        const std::size_t chain = chain_of(cmd);
        if (user[s] == kNobody) user[s] = chain;
        has_two_users[s] |= static_cast<std::uint8_t>(user[s] != chain);
        is_contended_[s] |= static_cast<std::uint8_t>(wait.consume);
      }
    }
    for (std::size_t s = 0; s < user.size(); ++s) is_contended_[s] &= has_two_users[s];
  }

  /// The same for commands that start one after the other because of their queue or thread alone.
  std::size_t chain_of(Cmd cmd) const {
    const Op& op = plan_.ops[program_.instances[cmd].op];
    if (op.kind == OpKind::kHostWait) return plan_.queues.size() + index(op.thread);
    if (op.queue != kNone<QueueId> && plan_.queues[op.queue].order != QueueOrder::kNone) {
      return index(op.queue);
    }
    return plan_.queues.size() + plan_.threads.size() + cmd;
  }

  void bind_command(Cmd cmd) {
    Instance& instance = program_.instances[cmd];
    const Op& op = plan_.ops[instance.op];
    instance.needs.begin = static_cast<std::uint32_t>(program_.needs.size());
    const auto prefixes = static_cast<std::uint32_t>(program_.prefixes.size());
    const auto thresholds = static_cast<std::uint32_t>(program_.thresholds.size());
    Cmd& blocker = thread_blocker_[index(op.thread)];
    instance.thread_before = blocker;

    if (instance.gate) {
      need_all_ops_but(op.queue, instance.op_index, *plan_.queues[op.queue].depth - 1);
    } else {
      bind_items(cmd, instance, op);
    }
    instance.needs.end = static_cast<std::uint32_t>(program_.needs.size());
    if (program_.prefixes.size() != prefixes || program_.thresholds.size() != thresholds) {
      Counts& counts = counts_of(instance);
      counts.prefixes = {prefixes, static_cast<std::uint32_t>(program_.prefixes.size())};
      counts.thresholds = {thresholds, static_cast<std::uint32_t>(program_.thresholds.size())};
    }
    if (instance.gate) {
      blocker = cmd;
    } else {
      submit(cmd, instance, op, blocker);
    }
  }

  void bind_items(Cmd cmd, const Instance& instance, const Op& op) {
    if (op.kind == OpKind::kWait) bind_event(instance.op, op.event);
    for (const Wait& wait : plan_.waits_of(op)) bind_wait(cmd, instance, wait);
    for (const After& after : plan_.after_of(op)) {
      const Cmd target = program_.find(after.op, std::int64_t{instance.iteration} - after.distance);
      if (target != kNoCmd) need(target);
    }
    for (QueueId queue : plan_.queues_of(op)) need_all_of(queue);
    if (op.kind == OpKind::kRecord) collect_queue(op.queue);
  }

  void submit_to(QueueId queue, Cmd cmd, bool is_op) {
    auto& commands = program_.queue_commands[index(queue)];
    auto& ops = program_.queue_ops[index(queue)];
    if (!ops && !is_op) ops = commands;
    if (ops && is_op) ops->push_back(cmd);
    commands.push_back(cmd);
  }

  void submit(Cmd cmd, Instance& instance, const Op& op, Cmd& blocker) {
    if (op.queue != kNone<QueueId>) {
      instance.queue_index =
          static_cast<std::uint32_t>(program_.queue_commands[index(op.queue)].size());
      instance.op_index = static_cast<std::uint32_t>(program_.ops_of(op.queue).size());
      instance.fence_before = fence_[index(op.queue)];
      submit_to(op.queue, cmd, is_counted(op.kind));
      if (op.kind == OpKind::kWait) fence_[index(op.queue)] = cmd;
      if (plan_.queues[op.queue].order == QueueOrder::kHost) blocker = cmd;
    }
    for (QueueId queue : plan_.queues_of(op)) {
      submit_to(queue, cmd, false);
      fence_[index(queue)] = cmd;
      if (plan_.queues[queue].order == QueueOrder::kHost) blocker = cmd;
    }
    if (op.kind == OpKind::kHostWait) blocker = cmd;
    if (op.kind == OpKind::kRecord) last_signal_[index(op.event)] = cmd;
    for (const Signal& signal : plan_.signals_of(op)) {
      if (signal.event != kNone<EventId>) last_signal_[index(signal.event)] = cmd;
    }
  }

  const Plan& plan_;
  const Layout& layout_;
  const ConditionCase& conditions_;
  Program program_;
  Valuation valuation_;
  std::vector<SemaphoreIndex> semaphores_;
  std::vector<std::uint8_t> is_contended_;   ///< By semaphore.
  std::vector<std::int64_t> taken_;          ///< By semaphore: by the waits so far.
  std::vector<Cmd> last_signal_;             ///< By event.
  std::vector<std::uint8_t> is_waited_for_;  ///< By event: by some command so far.
  std::vector<Cmd> thread_blocker_;          ///< By thread.
  std::vector<Cmd> fence_;                   ///< By queue.
  std::vector<Cmd> last_of_queue_;
  std::vector<std::uint32_t> submitted_;  ///< By queue: ops so far.
};

}  // namespace

Program make_program(const Plan& plan, const Layout& layout, const ConditionCase& conditions,
                     std::uint32_t iterations, bool reaches_end) {
  return ProgramMaker(plan, layout, conditions, iterations, reaches_end).make();
}

}  // namespace memverify
