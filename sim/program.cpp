#include "sim/program.h"

#include <algorithm>
#include <optional>
#include <string>

namespace memverify::sim {

ConditionValues::ConditionValues(const Plan& plan, std::int64_t iterations) {
  for (const Condition& condition : plan.conditions) {
    per_run_.push_back(condition.per_run ? 1 : 0);
    values_.emplace_back(condition.per_run ? 1U : static_cast<std::size_t>(iterations));
  }
}

namespace {

bool conditions_hold(const Plan& plan, const Case& settled, const Op& op, std::int64_t iteration) {
  return std::ranges::all_of(plan.when_of(op), [&](const WhenTerm& term) {
    return settled.conditions.get(term.condition, iteration) == term.value;
  });
}

bool excluded(const Case& settled, const Op& op, std::int64_t iteration) {
  return (op.runs == Runs::kFirst && iteration != 0) ||
         (op.runs == Runs::kLast && iteration != settled.iterations - 1);
}

/// Walks the commands once in program order, knowing of each queue, thread and event what came
/// last.
class Builder {
 public:
  Builder(const Plan& plan, const Case& settled) : plan_(plan), settled_(settled) {
    last_.resize(plan.queues.size(), kNone<CommandId>);
    fence_.resize(plan.queues.size(), kNone<CommandId>);
    threads_.resize(plan.threads.size());
    signalled_.resize(plan.events.size(), kNone<CommandId>);
    program_.sequences.resize(2 * plan.queues.size() + 1);
    program_.counted.resize(program_.sequences.size());
    program_.ops = plan.ops.size();
    program_.iterations = settled.iterations;
    program_.unrolled = settled.unrolled;
  }

  Result<Program> build() {
    for (const Semaphore& semaphore : plan_.semaphores) {
      program_.initial.push_back(any_number(semaphore.initial, 0, semaphore.name));
      program_.timeline.push_back(semaphore.timeline ? 1 : 0);
    }
    if (!make_commands())
      return Diagnostic{.id = "program.size",
                        .message = "the plan unrolls to more than 2^23 command instances"};
    for (CommandId c : all()) add_needs(c);
    close();
    if (error_) return *error_;
    return std::move(program_);
  }

 private:
  struct Gate {
    QueueId queue = kNone<QueueId>;
    std::uint32_t first = 0;
    std::uint32_t least = 0;
  };
  struct Thread {
    CommandId blocker =
        kNone<CommandId>;     ///< The last command that holds back the thread's later ones.
    std::vector<Gate> gates;  ///< Depth gates since, the last one of each queue.
  };

  IdRange<CommandId> all() const { return memverify::ids(program_.commands); }

  bool make_commands() {
    constexpr std::size_t kMost = std::size_t{1} << 23;
    const auto iterations = static_cast<std::size_t>(settled_.unrolled);
    if (!plan_.ops.empty() && iterations > kMost / plan_.ops.size()) return false;
    const std::size_t total = iterations * plan_.ops.size();
    program_.ids.assign(total, kNone<CommandId>);
    program_.commands.reserve(total);
    std::size_t at = 0;
    for (std::int64_t i = 0; i < settled_.unrolled; ++i) {
      for (OpId id : memverify::ids(plan_.ops)) {
        const Op& op = plan_.ops[id];
        const std::size_t slot = at++;
        if (op.kind == OpKind::kView || excluded(settled_, op, i)) continue;
        const bool holds = conditions_hold(plan_, settled_, op, i);
        if (!holds && !op.skipped_pass) continue;
        program_.ids[slot] = program_.commands.push_back(
            {.op = id, .iteration = static_cast<std::uint32_t>(i), .passed = !holds});
      }
    }
    return true;
  }

  void need(Need::Kind kind, Need::Reason reason, std::uint32_t at, std::uint32_t first = 0,
            std::uint32_t least = 0) {
    program_.needs.push_back({kind, reason, at, first, least});
  }
  void need_done(CommandId c, Need::Reason reason) {
    if (c != kNone<CommandId>) need(Need::Kind::kDone, reason, index(c));
  }

  bool in_order(QueueId queue) const {
    const QueueOrder order = plan_.queues[queue].order;
    return order == QueueOrder::kSerial || order == QueueOrder::kHost;
  }
  std::uint32_t commands_of(QueueId queue) const { return 2 * index(queue); }
  std::uint32_t ops_of(QueueId queue) const { return 2 * index(queue) + 1; }
  std::uint32_t length(std::uint32_t sequence) const {
    return static_cast<std::uint32_t>(program_.sequences[sequence].size());
  }

  /// At least `least` of the first `first` commands of one of `queue`'s sequences have completed.
  void need_count(QueueId queue, std::uint32_t sequence, std::uint32_t first, std::int64_t least,
                  Need::Reason reason) {
    if (least <= 0) return;
    const auto count = static_cast<std::uint32_t>(least);
    if (in_order(queue)) {
      need_done(program_.sequences[sequence][count - 1], reason);
    } else if (count == first) {
      need(Need::Kind::kPrefix, reason, sequence, first);
    } else {
      need(Need::Kind::kCount, reason, sequence, first, count);
      program_.counted[sequence] = 1;
    }
  }
  void need_all_so_far(QueueId queue, Need::Reason reason) {
    const std::uint32_t all = length(commands_of(queue));
    need_count(queue, commands_of(queue), all, all, reason);
  }

  /// [S-12] to [S-15], [S-17], [S-18].
  void need_queue_order(QueueId queue) {
    switch (plan_.queues[queue].order) {
      case QueueOrder::kSerial:
      case QueueOrder::kHost:
        need_done(last_[queue], Need::Reason::kQueue);
        return;
      case QueueOrder::kIssue:
        if (last_[queue] != kNone<CommandId>) {
          need(Need::Kind::kStarted, Need::Reason::kQueue, index(last_[queue]));
        }
        break;
      case QueueOrder::kNone:
        break;
    }
    need_done(fence_[queue], Need::Reason::kFence);
  }

  /// [S-15], [S-19], [S-26], [S-27].
  void need_thread(const Op& op) {
    Thread& thread = threads_[op.thread];
    if (op.queue != kNone<QueueId> && plan_.queues[op.queue].depth && is_counted(op.kind)) {
      const std::uint32_t before = length(ops_of(op.queue));
      const std::int64_t least = std::int64_t{before} + 1 - *plan_.queues[op.queue].depth;
      if (least > 0) {
        const Gate gate{op.queue, before, static_cast<std::uint32_t>(least)};
        const auto old = std::ranges::find(thread.gates, op.queue, &Gate::queue);
        if (old == thread.gates.end()) {
          thread.gates.push_back(gate);
        } else {
          *old = gate;
        }
      }
    }
    need_done(thread.blocker, Need::Reason::kThread);
    for (const Gate& gate : thread.gates) {
      need_count(gate.queue, ops_of(gate.queue), gate.first, gate.least, Need::Reason::kDepth);
    }
  }

  void need_wait(CommandId c, const Wait& wait) {
    const Command& command = program_.commands[c];
    switch (wait.kind) {
      case WaitKind::kEvent:
        need_event(c, wait.event);
        return;
      case WaitKind::kSemaphore: {
        const std::int64_t value =
            any_number(wait.value, command.iteration, plan_.ops[command.op].name);
        program_.semaphore_needs.push_back({wait.semaphore, wait.consume, value});
        program_.consumes |= wait.consume && value != 0;
        return;
      }
      case WaitKind::kPending:
      case WaitKind::kOutstanding: {
        const std::int64_t value =
            number(wait.value, command.iteration, plan_.ops[command.op].name);
        const std::uint32_t sequence = ops_of(wait.queue);
        const std::int64_t least = length(sequence) - value;
        if (least <= 0) return;
        if (wait.kind == WaitKind::kOutstanding) {
          need_count(wait.queue, sequence, length(sequence), least, Need::Reason::kOutstanding);
        } else {
          need_count(wait.queue, sequence, static_cast<std::uint32_t>(least), least,
                     Need::Reason::kPending);
        }
        return;
      }
      case WaitKind::kQueue:
        need_all_so_far(wait.queue, Need::Reason::kHostWait);
        return;
      case WaitKind::kAll:
        need(Need::Kind::kPrefix, Need::Reason::kHostWait, all_commands(), index(c));
        return;
    }
  }

  std::uint32_t all_commands() {
    const auto last = static_cast<std::uint32_t>(program_.sequences.size() - 1);
    std::vector<CommandId>& sequence = program_.sequences[last];
    if (sequence.empty()) {
      for (CommandId c : all()) sequence.push_back(c);
    }
    return last;
  }

  void need_event(CommandId c, EventId event) {
    const CommandId signal = signalled_[event];
    need_done(signal, Need::Reason::kEvent);
    (signal == kNone<CommandId> ? program_.unbound : program_.bound)
        .emplace_back(program_.commands[c].op, event);
  }

  void add_needs(CommandId c) {
    const Command& command = program_.commands[c];
    const Op& op = plan_.ops[command.op];
    program_.start_needs.push_back(static_cast<std::uint32_t>(program_.needs.size()));
    program_.semaphore_begin.push_back(static_cast<std::uint32_t>(program_.semaphore_needs.size()));
    program_.signal_begin.push_back(static_cast<std::uint32_t>(program_.signals.size()));

    if (op.queue != kNone<QueueId>) need_queue_order(op.queue);
    if (op.kind == OpKind::kBarrier) {
      for (QueueId queue : plan_.queues_of(op)) need_all_so_far(queue, Need::Reason::kBarrier);
    }
    need_thread(op);
    for (const After& after : plan_.after_of(op)) {
      need_done(program_.find(after.op, std::int64_t{command.iteration} - after.distance),
                Need::Reason::kAfter);
    }
    if (op.kind == OpKind::kWait) need_event(c, op.event);
    for (const Wait& wait : plan_.waits_of(op)) need_wait(c, wait);

    program_.finish_needs.push_back(static_cast<std::uint32_t>(program_.needs.size()));
    if (op.kind == OpKind::kRecord) need_all_so_far(op.queue, Need::Reason::kRecord);
    for (const Signal& signal : plan_.signals_of(op)) {
      if (signal.semaphore == kNone<SemaphoreId>) continue;
      const std::int64_t value = any_number(signal.value, command.iteration, op.name);
      program_.signals.push_back({signal.semaphore, value});
      program_.consumes |= value < 0 && program_.timeline[signal.semaphore] == 0;
    }
    submit(c, op);
  }

  /// From here on `c` is an earlier command to whoever comes next.
  void submit(CommandId c, const Op& op) {
    for (const Signal& signal : plan_.signals_of(op)) {
      if (signal.event != kNone<EventId>) signalled_[signal.event] = c;
    }
    if (op.kind == OpKind::kRecord) signalled_[op.event] = c;
    bool blocks = op.kind == OpKind::kHostWait;
    const auto enter = [&](QueueId queue) {
      last_[queue] = c;
      if (op.kind == OpKind::kWait || op.kind == OpKind::kBarrier) fence_[queue] = c;
      program_.sequences[commands_of(queue)].push_back(c);
      if (is_counted(op.kind)) program_.sequences[ops_of(queue)].push_back(c);
      blocks |= plan_.queues[queue].order == QueueOrder::kHost;
    };
    if (op.queue != kNone<QueueId>) enter(op.queue);
    if (op.kind == OpKind::kBarrier) {
      for (QueueId queue : plan_.queues_of(op)) enter(queue);
    }
    if (blocks) {
      threads_[op.thread].blocker = c;
      threads_[op.thread].gates.clear();
    }
  }

  std::int64_t any_number(Expr expr, std::int64_t iteration, std::string_view owner) {
    if (expr.is_constant()) return expr.constant;
    Valuation valuation = settled_.symbols;
    valuation.iteration = iteration;
    const std::optional<std::int64_t> value = plan_.formulas.eval(expr, valuation);
    if (!value) refuse("expr.overflow", expr, iteration, owner, " does not fit 64 bits");
    return value.value_or(0);
  }
  std::int64_t number(Expr expr, std::int64_t iteration, std::string_view owner) {
    const std::int64_t value = any_number(expr, iteration, owner);
    if (value < 0) refuse("expr.negative", expr, iteration, owner, " is negative");
    return value;
  }
  void refuse(std::string id, Expr expr, std::int64_t iteration, std::string_view owner,
              std::string_view why) {
    if (error_) return;
    error_ = Diagnostic{.id = std::move(id),
                        .message = "the value `" + plan_.formulas.to_string(expr) + "` of `" +
                                   std::string(owner) + "` in iteration " +
                                   std::to_string(iteration) + std::string(why)};
  }

  void close() {
    program_.start_needs.push_back(static_cast<std::uint32_t>(program_.needs.size()));
    program_.semaphore_begin.push_back(static_cast<std::uint32_t>(program_.semaphore_needs.size()));
    program_.signal_begin.push_back(static_cast<std::uint32_t>(program_.signals.size()));
    for (auto* pairs : {&program_.unbound, &program_.bound}) {
      if (!std::ranges::is_sorted(*pairs)) std::ranges::sort(*pairs);
      pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
    }
  }

  const Plan& plan_;
  const Case& settled_;
  Program program_;
  Table<QueueId, CommandId> last_;   ///< The last command of each queue.
  Table<QueueId, CommandId> fence_;  ///< The last wait or barrier of each queue.
  Table<ThreadId, Thread> threads_;
  Table<EventId, CommandId> signalled_;  ///< The last record or signal of each event.
  std::optional<Diagnostic> error_;
};

}  // namespace

bool is_dropped(const Plan& plan, const Case& settled, OpId op, std::int64_t iteration) {
  const Op& what = plan.ops[op];
  return excluded(settled, what, iteration) ||
         (!what.skipped_pass && !conditions_hold(plan, settled, what, iteration));
}

Result<Program> make_program(const Plan& plan, const Case& settled) {
  return Builder(plan, settled).build();
}

}  // namespace memverify::sim
