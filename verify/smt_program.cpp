#include "verify/smt_program.h"

#include <algorithm>
#include <string>

namespace memverify::smt {
namespace {

bool counts_as_op(OpKind kind) { return kind == OpKind::kOp || kind == OpKind::kUnknown; }
bool is_fence(OpKind kind) { return kind == OpKind::kWait || kind == OpKind::kBarrier; }

class ProgramMaker {
 public:
  ProgramMaker(const Plan& plan, const Layout& layout, std::uint32_t iterations, bool reaches_end,
               Terms& terms)
      : plan_(plan), layout_(layout), terms_(terms) {
    result_.listed.plan = &plan;
    result_.listed.layout = &layout;
    result_.listed.iterations = iterations;
    result_.listed.reaches_end = reaches_end;
  }

  Program make() {
    make_conditions();
    list_commands();
    on_queue_.resize(plan_.queues.size());
    ops_of_queue_.resize(plan_.queues.size());
    of_thread_.resize(plan_.threads.size());
    signals_of_event_.resize(plan_.events.size());
    list_semaphores();
    for (Cmd c = 0; c < result_.commands.size(); ++c) {
      need_start(c);
      submit(c);
    }
    return std::move(result_);
  }

 private:
  // ---- commands and conditions ------------------------------------------------------------------

  const Op& op(Cmd c) const { return plan_.ops[result_.listed.instances[c].op]; }
  std::uint32_t iteration(Cmd c) const { return result_.listed.instances[c].iteration; }
  bool always(Cmd c) const { return result_.always(terms_, c); }
  Bool present(Cmd c) const { return result_.commands[c].present; }

  void make_conditions() {
    condition_.resize(plan_.conditions.size() * result_.listed.iterations);
    std::vector<std::uint8_t> used(plan_.conditions.size(), 0);
    for (const WhenTerm& term : plan_.when_terms) used[index(term.condition)] = 1;
    for (ConditionId id : ids(plan_.conditions)) {
      if (!used[index(id)]) continue;
      for (std::uint32_t i = 0; i < result_.listed.iterations; ++i) {
        const bool shared = plan_.conditions[id].per_run && i > 0;
        const std::string name = std::string(plan_.conditions[id].name) + "@" + std::to_string(i);
        Bool& holds = condition_[index(id) * result_.listed.iterations + i];
        holds = shared ? condition_[index(id) * result_.listed.iterations] : terms_.boolean(name);
        if (!shared) result_.conditions.push_back({id, i, holds});
      }
    }
  }

  void list_commands() {
    const std::uint32_t n = result_.listed.iterations;
    result_.listed.by_op.assign(std::size_t{n} * plan_.ops.size(), kNoCmd);
    for (std::uint32_t i = 0; i < n; ++i) {
      for (OpId id : ids(plan_.ops)) {
        const Op& op = plan_.ops[id];
        const bool is_last = result_.listed.reaches_end && i + 1 == n;
        if (op.kind == OpKind::kView || (op.runs == Runs::kFirst && i != 0) ||
            (op.runs == Runs::kLast && !is_last)) {
          continue;  // [S-8]
        }
        std::vector<Bool> when;
        for (const WhenTerm& term : plan_.when_of(op)) {
          const Bool holds = condition_[index(term.condition) * n + i];
          when.push_back(term.value ? holds : terms_.no(holds));
        }
        add_command(id, i, terms_.all(when), op.skipped_pass);
      }
    }
    result_.to_start.resize(result_.commands.size());
    result_.to_complete.resize(result_.commands.size());
  }

  void add_command(OpId id, std::uint32_t i, Bool when, bool passes) {
    const std::string name = std::string(plan_.ops[id].name) + "@" + std::to_string(i);
    Command c;
    c.present = passes ? terms_.truth(true) : when;
    c.touches = when;
    c.started = terms_.boolean(name + " started");
    c.completed = terms_.boolean(name + " completed");
    c.start = terms_.integer(name + " start");
    c.complete = terms_.integer(name + " complete");
    result_.listed.by_op[std::size_t{i} * plan_.ops.size() + index(id)] =
        static_cast<Cmd>(result_.commands.size());
    result_.listed.instances.push_back({.op = id, .iteration = i, .queue = plan_.ops[id].queue});
    result_.commands.push_back(c);
  }

  // ---- semaphores -------------------------------------------------------------------------------

  std::int64_t value(const Expr& expr, std::uint32_t i) {
    Valuation valuation = layout_.valuation();
    valuation.iteration = i;
    const std::optional<std::int64_t> result = plan_.formulas.eval(expr, valuation);
    if (!result) result_.bad_value = true;
    return result.value_or(0);
  }

  void list_semaphores() {
    for (const Semaphore& semaphore : plan_.semaphores) {
      SemaphoreUse& use = result_.semaphores.emplace_back();
      use.initial = value(semaphore.initial, 0);
      use.timeline = semaphore.timeline;
    }
    for (Cmd c = 0; c < result_.commands.size(); ++c) {
      for (const Signal& signal : plan_.signals_of(op(c))) {
        if (signal.semaphore == kNone<SemaphoreId>) continue;
        SemaphoreUse& use = result_.semaphores[index(signal.semaphore)];
        use.signals.push_back({c, value(signal.value, iteration(c))});
        result_.bad_value |= !use.timeline && use.signals.back().value < 0;
      }
      for (const Wait& wait : plan_.waits_of(op(c))) {
        if (wait.kind != WaitKind::kSemaphore || !wait.consume) continue;
        const std::int64_t taken = value(wait.value, iteration(c));
        result_.bad_value |= taken < 0;
        if (taken != 0) result_.semaphores[index(wait.semaphore)].takes.push_back({c, taken});
      }
    }
    for (const SemaphoreUse& use : result_.semaphores) {  // No sum of them passes 64 bits.
      std::int64_t total = use.initial;
      for (const Change& change : use.signals) {
        result_.bad_value |= !use.timeline && __builtin_add_overflow(total, change.value, &total);
      }
      for (const Change& change : use.takes) {
        result_.bad_value |= __builtin_sub_overflow(total, change.value, &total);
      }
    }
  }

  // ---- needs ------------------------------------------------------------------------------------

  void need_done(Cmd c, Cmd at, Bool applies) {
    result_.to_start[c].push_back({.kind = Need::Kind::kDone, .applies = applies, .at = at});
  }
  void need_done(Cmd c, Cmd at) { need_done(c, at, present(at)); }

  /// Uses the commands of `list` from the last back to the first that is never dropped and that
  /// `ends`: what it needed itself, all later ones need not ask for again.
  template <typename Ends, typename Use>
  void back(const std::vector<Cmd>& list, Ends&& ends, Use&& use) {
    for (std::size_t k = list.size(); k-- > 0;) {
      use(list[k]);
      if (always(list[k]) && ends(list[k])) return;
    }
  }
  static bool any_ends(Cmd) { return true; }

  bool in_order(QueueId queue) const {
    const QueueOrder order = plan_.queues[queue].order;
    return order == QueueOrder::kSerial || order == QueueOrder::kHost;
  }

  std::vector<QueueId> queues_of(Cmd c) const {
    if (op(c).queue != kNone<QueueId>) return {op(c).queue};
    const auto list = plan_.queues_of(op(c));
    return {list.begin(), list.end()};
  }

  /// [S-12] to [S-18].
  void need_queue(Cmd c, QueueId queue) {
    const std::vector<Cmd>& before = on_queue_[index(queue)];
    const OpKind kind = op(c).kind;
    switch (plan_.queues[queue].order) {
      case QueueOrder::kSerial:
      case QueueOrder::kHost:
        back(before, any_ends, [&](Cmd b) { need_done(c, b); });
        return;
      case QueueOrder::kIssue:
        back(before, any_ends, [&](Cmd b) {
          result_.to_start[c].push_back(
              {.kind = Need::Kind::kStarted, .applies = present(b), .at = b});
        });
        break;
      case QueueOrder::kNone:
        break;
    }
    if (kind == OpKind::kBarrier) {
      need_all_of(c, queue);
      return;
    }
    bool more = true;
    for (std::size_t k = before.size(); more && k-- > 0;) {
      if (!is_fence(op(before[k]).kind)) continue;
      need_done(c, before[k]);
      more = !always(before[k]);
    }
    if (kind == OpKind::kRecord) {
      back(
          before,
          [&](Cmd b) { return op(b).kind == OpKind::kBarrier || op(b).kind == OpKind::kRecord; },
          [&](Cmd b) {
            result_.to_complete[c].push_back(
                {.kind = Need::Kind::kDone, .applies = present(b), .at = b});
          });
    }
  }

  /// Every command of `queue` so far.
  void need_all_of(Cmd c, QueueId queue) {
    const bool ordered = in_order(queue);
    back(
        on_queue_[index(queue)], [&](Cmd b) { return ordered || op(b).kind == OpKind::kBarrier; },
        [&](Cmd b) { need_done(c, b); });
  }

  /// Every command so far ([S-26]).
  void need_everything(Cmd c) {
    for (Cmd b = c; b-- > 0;) {
      need_done(c, b);
      if (op(b).kind != OpKind::kHostWait || !always(b)) continue;
      if (plan_.waits_of(op(b)).front().kind == WaitKind::kAll) return;
    }
  }

  bool has_gate(Cmd c) const {
    return op(c).queue != kNone<QueueId> && plan_.queues[op(c).queue].depth &&
           counts_as_op(op(c).kind);
  }

  bool blocks_thread(Cmd c) const {
    const auto is_host = [&](QueueId q) { return plan_.queues[q].order == QueueOrder::kHost; };
    return op(c).kind == OpKind::kHostWait || std::ranges::any_of(queues_of(c), is_host);
  }

  /// [S-15], [S-19], [S-26], [S-27]. Of a blocker that is never dropped all gates before it are
  /// known to be passed; of a gate that is, the earlier ones of its queue.
  void need_thread(Cmd c) {
    std::vector<std::uint8_t> passed(plan_.queues.size(), 0);
    const auto gate = [&](Cmd g) {
      if (!has_gate(g) || passed[index(op(g).queue)]) return;
      const QueueId queue = op(g).queue;
      passed[index(queue)] = g == c || always(g);
      if (gate_of_.size() <= g) gate_of_.resize(g + 1, kNoGate);
      if (g == c) gate_of_[g] = make_count(queue, *plan_.queues[queue].depth - 1);
      need_count(c, gate_of_[g], g == c ? terms_.truth(true) : present(g));
    };
    gate(c);
    back(
        of_thread_[index(op(c).thread)], [&](Cmd b) { return blocks_thread(b); },
        [&](Cmd b) {
          if (blocks_thread(b)) need_done(c, b);
          gate(b);
        });
  }

  static constexpr std::uint32_t kNoGate = 0xFFFFFFFFU;

  /// At most `most` of the ops of `queue` so far are incomplete; kNoGate if that always holds. On a
  /// queue whose completions are in order only the last `most` + 1 that are never dropped and what
  /// lies between them matter: one of them completed says the same of all before it.
  std::uint32_t make_count(QueueId queue, std::int64_t most) {
    Count count{.of = {}, .most = most, .queue = queue};
    const std::vector<Cmd>& ops = ops_of_queue_[index(queue)];
    std::int64_t certain = 0;
    for (std::size_t k = ops.size(); k-- > 0;) {
      count.of.push_back(ops[k]);
      certain += always(ops[k]) ? 1 : 0;
      if (in_order(queue) && certain > most) break;
    }
    if (std::int64_t(count.of.size()) <= most) return kNoGate;
    result_.counts.push_back(std::move(count));
    return static_cast<std::uint32_t>(result_.counts.size()) - 1;
  }

  void need_count(Cmd c, std::uint32_t count, Bool applies) {
    if (count == kNoGate) return;
    const Count& what = result_.counts[count];
    const bool exact = std::ranges::all_of(what.of, [&](Cmd b) { return always(b); });
    if (exact && in_order(what.queue)) {  // Its first op in program order is the one to wait for.
      need_done(c, what.of.back(), applies);
    } else if (exact && what.most == 0) {
      for (Cmd b : what.of) need_done(c, b, applies);
    } else {
      result_.to_start[c].push_back(
          {.kind = Need::Kind::kCount, .applies = applies, .count = count});
    }
  }

  /// All but the `pending` last ops of `queue` that are not dropped.
  void need_pending(Cmd c, QueueId queue, std::int64_t pending) {
    const std::vector<Cmd>& ops = ops_of_queue_[index(queue)];
    const auto most = static_cast<std::size_t>(
        std::min<std::int64_t>(pending, static_cast<std::int64_t>(ops.size())));
    std::vector<Bool> later(most + 1, terms_.truth(false));  // [n]: n or more lie after.
    later[0] = terms_.truth(true);
    for (std::size_t k = ops.size(); k-- > 0;) {
      need_done(c, ops[k], terms_.both(present(ops[k]), later[most]));
      if (always(ops[k]) && terms_.is_true(later[most]) && in_order(queue)) return;
      for (std::size_t n = most; n > 0; --n) {
        later[n] = terms_.either(later[n], terms_.both(later[n - 1], present(ops[k])));
      }
    }
  }

  /// [S-21]: the last signal that is not dropped.
  void need_event(Cmd c, EventId event) {
    Bool none_later = terms_.truth(true);
    std::vector<Bool> some;
    back(signals_of_event_[index(event)], any_ends, [&](Cmd b) {
      need_done(c, b, terms_.both(present(b), none_later));
      none_later = terms_.both(none_later, terms_.no(present(b)));
      some.push_back(terms_.both(present(b), present(c)));
    });
    result_.bindings.push_back({result_.listed.instances[c].op, terms_.any(some)});
  }

  void need_wait(Cmd c, const Wait& wait) {
    switch (wait.kind) {
      case WaitKind::kEvent:
        need_event(c, wait.event);
        return;
      case WaitKind::kSemaphore:
        need_semaphore(c, wait);
        return;
      case WaitKind::kPending:
      case WaitKind::kOutstanding: {
        const std::int64_t most = value(wait.value, iteration(c));
        if (most < 0) {
          result_.bad_value = true;
        } else if (wait.kind == WaitKind::kPending) {
          need_pending(c, wait.queue, most);
        } else {
          need_count(c, make_count(wait.queue, most), terms_.truth(true));
        }
        return;
      }
      case WaitKind::kQueue:
        need_all_of(c, wait.queue);
        return;
      case WaitKind::kAll:
        need_everything(c);
        return;
    }
  }

  /// What earlier entries of the same command take must be there as well.
  void need_semaphore(Cmd c, const Wait& wait) {
    std::int64_t wanted = value(wait.value, iteration(c));
    for (const Wait& before : plan_.waits_of(op(c))) {
      if (&before == &wait) break;
      if (before.kind != WaitKind::kSemaphore || !before.consume) continue;
      if (before.semaphore != wait.semaphore) continue;
      result_.bad_value |=
          __builtin_add_overflow(wanted, value(before.value, iteration(c)), &wanted);
    }
    result_.to_start[c].push_back({.kind = Need::Kind::kSemaphore,
                                   .applies = terms_.truth(true),
                                   .semaphore = wait.semaphore,
                                   .value = wanted});
  }

  void need_start(Cmd c) {
    for (QueueId queue : queues_of(c)) need_queue(c, queue);
    need_thread(c);
    for (const After& after : plan_.after_of(op(c))) {
      const Cmd at = result_.listed.find(after.op, std::int64_t{iteration(c)} - after.distance);
      if (at != kNoCmd) need_done(c, at);
    }
    if (op(c).kind == OpKind::kWait) need_event(c, op(c).event);
    for (const Wait& wait : plan_.waits_of(op(c))) need_wait(c, wait);
  }

  void submit(Cmd c) {
    for (QueueId queue : queues_of(c)) on_queue_[index(queue)].push_back(c);
    if (op(c).queue != kNone<QueueId> && counts_as_op(op(c).kind)) {
      ops_of_queue_[index(op(c).queue)].push_back(c);
    }
    if (blocks_thread(c) || has_gate(c)) of_thread_[index(op(c).thread)].push_back(c);
    if (op(c).kind == OpKind::kRecord) signals_of_event_[index(op(c).event)].push_back(c);
    for (const Signal& signal : plan_.signals_of(op(c))) {
      if (signal.event != kNone<EventId>) signals_of_event_[index(signal.event)].push_back(c);
    }
  }

  const Plan& plan_;
  const Layout& layout_;
  Terms& terms_;
  Program result_;
  std::vector<Bool> condition_;             ///< By condition and iteration.
  std::vector<std::vector<Cmd>> on_queue_;  ///< Barriers included.
  std::vector<std::vector<Cmd>> ops_of_queue_;
  std::vector<std::vector<Cmd>> of_thread_;  ///< Those that may hold back their thread.
  std::vector<std::vector<Cmd>> signals_of_event_;
  std::vector<std::uint32_t> gate_of_;  ///< By Cmd: its count, or kNoGate.
};

}  // namespace

Program make_program(const Plan& plan, const Layout& layout, std::uint32_t iterations,
                     bool reaches_end, Terms& terms) {
  return ProgramMaker(plan, layout, iterations, reaches_end, terms).make();
}

}  // namespace memverify::smt
