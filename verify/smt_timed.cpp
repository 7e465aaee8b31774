#include "verify/smt_timed.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "plan/faults.h"
#include "plan/layout.h"
#include "plan/words.h"
#include "verify/cases.h"
#include "verify/smt_findings.h"

namespace memverify {
namespace smt {
namespace {

constexpr std::size_t kMostRuns = std::size_t{1} << 20;
constexpr int kMaxLess = 40;  ///< Questions for a run with less lateness.

class TimedEncoding {
 public:
  TimedEncoding(const Plan& plan, const Layout& layout, const SmtOptions& options)
      : plan_(plan),
        solver_({.query_steps = options.query_steps,
                 .total_steps = options.total_steps,
                 .total_seconds = options.max_seconds,
                 .memory_mb = options.memory_mb}),
        terms_(solver_.terms()),
        program_(make_program(plan, layout, static_cast<std::uint32_t>(*plan.iterations), true,
                              solver_.terms())) {}

  /// "" or why the plan cannot be asked about.
  std::string make() {
    if (program_.bad_value) return "a semaphore's value is negative or passes 64 bits";
    order_.emplace(program_, solver_, Shortcuts::kKnownOrder);
    bytes_ = Bytes::make(program_, kMostRuns);
    if (!bytes_) return "the strided tensors have too many contiguous runs of bytes";
    make_knobs();
    make_ticks();
    solver_.require(order_->maximal());
    for (Cmd c = 0; c < program_.commands.size(); ++c) {
      require_start(c);
      require_completion(c);
      require_takes(c);
    }
    require_ends_first();
    questions_ = make_questions(program_, *order_, *bytes_, terms_, &ticks_);
    return "";
  }

  SmtTimedResult ask() {
    SmtTimedResult result{.verdict = Verdict::kSafe};
    for (const Question& question : questions_.all) {
      const bool unknown = question.kind == Question::Kind::kUnknown;
      if (unknown && result.verdict == Verdict::kUnknown) continue;
      const Answer answer = solver_.check(std::vector{question.hazard});
      if (answer == Answer::kUnsat) continue;
      const std::string about = subject(program_, *bytes_, question);
      if (answer == Answer::kSat && !unknown) {
        result.verdict = Verdict::kUnsafe;
        result.fault = about;
        fill(result, question.hazard);
        return result;
      }
      result.verdict = Verdict::kUnknown;
      result.reason = unknown ? about + ": nothing is known of an unknown command"
                              : about + ": " + solver_.reason();
    }
    return result;
  }

 private:
  // ---- what is varied ---------------------------------------------------------------------------

  Int knob(std::int64_t low, std::int64_t high, const std::string& name) {
    if (low == high) return terms_.number(low);
    const Int value = terms_.integer(name);
    solver_.require(terms_.at_most(terms_.number(low), value));
    solver_.require(terms_.at_most(value, terms_.number(high)));
    return value;
  }

  void make_knobs() {
    std::vector<Int> late;
    std::int64_t least = 0;
    for (const Queue& queue : plan_.queues) {
      delays_.push_back(knob(queue.delay_min, queue.delay_max, std::string(queue.name) + " delay"));
      late.push_back(delays_.back());
      least += queue.delay_min;
    }
    for (const Op& op : plan_.ops) {
      const Duration d = duration_of(plan_, op);
      const std::int64_t most = op.kind == OpKind::kView ? d.min : d.max;
      durations_.push_back(knob(d.min, most, std::string(op.name) + " duration"));
      late.push_back(durations_.back());
      least += d.min;
    }
    late.push_back(terms_.number(-least));
    lateness_ = terms_.sum(std::move(late));
  }

  /// An instant is `width * tick + its place within the tick`.
  void make_ticks() {
    const auto width = static_cast<std::int64_t>(2 * program_.commands.size() + 2);
    const auto tie = [&](Int tick, Int instant) {
      const Int first = terms_.multiply(terms_.number(width), tick);
      solver_.require(terms_.at_most(terms_.number(0), tick));
      solver_.require(terms_.at_most(first, instant));
      solver_.require(terms_.less(instant, terms_.add(first, terms_.number(width))));
    };
    for (const Command& command : program_.commands) {
      ticks_.start.push_back(terms_.integer("start tick"));
      ticks_.complete.push_back(terms_.integer("complete tick"));
      tie(ticks_.start.back(), command.start);
      tie(ticks_.complete.back(), command.complete);
    }
  }

  // ---- as soon as it may ------------------------------------------------------------------------

  const Op& op(Cmd c) const { return program_.listed.op(c); }

  std::vector<Int> delays_of(Cmd c) const {
    if (op(c).queue != kNone<QueueId>) return {delays_[index(op(c).queue)]};
    std::vector<Int> result;
    for (const QueueId queue : plan_.queues_of(op(c))) result.push_back(delays_[index(queue)]);
    return result;
  }

  /// A command with the tick of the instant that counts is there before `tick`.
  Bool before(Bool happens, Int at, Int tick) {
    return terms_.both(happens, terms_.less(at, tick));
  }

  /// By what happens in ticks before `tick`, the need is not met.
  Bool unmet_before(const Need& need, Int tick) {
    const auto completed = [&](Cmd c) {
      return before(program_.commands[c].completed, ticks_.complete[c], tick);
    };
    const auto started = [&](Cmd c) {
      return before(program_.commands[c].started, ticks_.start[c], tick);
    };
    switch (need.kind) {
      case Need::Kind::kDone:
        return terms_.both(need.applies, terms_.no(completed(need.at)));
      case Need::Kind::kStarted:
        return terms_.both(need.applies, terms_.no(started(need.at)));
      case Need::Kind::kCount: {
        std::vector<Weighted> open;
        const Count& count = program_.counts[need.count];
        for (const Cmd c : count.of) {
          open.push_back({terms_.both(program_.commands[c].present, terms_.no(completed(c))), 1});
        }
        return terms_.both(need.applies, terms_.weigh_at_least(open, count.most + 1));
      }
      case Need::Kind::kSemaphore:
        break;
    }
    const SemaphoreUse& use = program_.semaphores[index(need.semaphore)];
    if (use.timeline) {
      std::vector<Bool> some{terms_.truth(use.initial >= need.value)};
      for (const Change& signal : use.signals) {
        if (signal.value >= need.value) some.push_back(completed(signal.cmd));
      }
      return terms_.no(terms_.any(std::move(some)));
    }
    std::vector<Weighted> parts;
    for (const Change& signal : use.signals) parts.push_back({completed(signal.cmd), signal.value});
    for (const Change& take : use.takes) parts.push_back({started(take.cmd), -take.value});
    return terms_.no(terms_.weigh_at_least(parts, need.value - use.initial));
  }

  /// Some need of the start of `c` is not met before `tick`, or its queue is held back until then.
  Bool held_before(Cmd c, Int tick) {
    std::vector<Bool> some;
    for (const Need& need : program_.to_start[c]) some.push_back(unmet_before(need, tick));
    for (const Int delay : delays_of(c)) some.push_back(terms_.at_most(tick, delay));
    some.push_back(terms_.at_most(tick, terms_.number(0)));
    return terms_.any(std::move(some));
  }

  void require_start(Cmd c) {
    const Bool started = program_.commands[c].started;
    for (const Int delay : delays_of(c)) {
      solver_.require(terms_.implies(started, terms_.at_most(delay, ticks_.start[c])));
    }
    solver_.require(terms_.implies(started, held_before(c, ticks_.start[c])));
  }

  void require_completion(Cmd c) {
    const Int due = terms_.add(ticks_.start[c], durations_[index(program_.listed.instances[c].op)]);
    std::vector<Bool> reasons{terms_.at_most(ticks_.complete[c], due)};
    for (const Need& need : program_.to_complete[c]) {
      reasons.push_back(unmet_before(need, ticks_.complete[c]));
    }
    const Bool completed = program_.commands[c].completed;
    solver_.require(terms_.implies(completed, terms_.at_most(due, ticks_.complete[c])));
    solver_.require(terms_.implies(completed, terms_.any(std::move(reasons))));
  }

  /// What others take makes a count fall: `c` must not have been able to start before that. Between
  /// two takes a count only grows, so the ticks before a take are enough to look at.
  void require_takes(Cmd c) {
    for (const Need& need : program_.to_start[c]) {
      if (need.kind != Need::Kind::kSemaphore) continue;
      for (const Change& take : program_.semaphores[index(need.semaphore)].takes) {
        if (take.cmd == c) continue;
        const Command& other = program_.commands[take.cmd];
        const Command& command = program_.commands[c];
        const Bool later = terms_.either(terms_.no(command.started),
                                         terms_.less(ticks_.start[take.cmd], ticks_.start[c]));
        solver_.require(terms_.implies(terms_.all({command.present, other.started, later}),
                                       held_before(c, ticks_.start[take.cmd])));
      }
    }
  }

  /// In one tick, what ends after having taken time comes before what starts.
  void require_ends_first() {
    std::vector<std::pair<Cmd, Cmd>> pairs;
    const auto meet = [&](Cmd a, Cmd b) {
      if (a == b || a == kEndOfRun || b == kEndOfRun) return;
      pairs.emplace_back(a, b);
      pairs.emplace_back(b, a);
    };
    for (const Cell& cell : bytes_->cells()) {
      for (const Touch& x : cell.touches) {
        for (const Touch& y : cell.touches) {
          if (x.cmd < y.cmd) meet(x.cmd, y.cmd);
        }
      }
    }
    const Footprints& footprints = bytes_->footprints();
    for (const AccessInstance& a : footprints.accesses()) {
      if (a.tensor == kNone<TensorId> || a.cmd == kEndOfRun) continue;
      for (const Cmd c : bytes_->events(footprints.slot(a.tensor, a.instance))) meet(a.cmd, c);
    }
    for (std::uint32_t slot = 0; slot < footprints.slots(); ++slot) {
      const std::vector<Cmd>& events = bytes_->events(slot);
      for (std::size_t k = 1; k < events.size(); ++k) meet(events[k - 1], events[k]);
    }
    std::ranges::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const auto& [a, b] : pairs) {
      if (order_->known_before(a, b) || order_->known_before(b, a)) continue;
      const Bool ends = terms_.all({program_.commands[a].completed, program_.commands[b].started,
                                    terms_.less(ticks_.start[a], ticks_.complete[a]),
                                    terms_.at_most(ticks_.complete[a], ticks_.start[b])});
      solver_.require(terms_.implies(
          ends, terms_.at_most(program_.commands[a].complete, program_.commands[b].start)));
    }
  }

  // ---- answers ----------------------------------------------------------------------------------

  /// The values of the model, after asking for less lateness for as long as there is.
  void fill(SmtTimedResult& result, Bool hazard) {
    read(result);
    for (int k = 0; k < kMaxLess && solver_.value(lateness_) > 0; ++k) {
      const Bool less = terms_.less(lateness_, terms_.number(solver_.value(lateness_)));
      if (solver_.check(std::vector{hazard, less}) != Answer::kSat) return;
      read(result);
    }
  }

  void read(SmtTimedResult& result) {
    result.delays.clear();
    result.durations.clear();
    for (const Int delay : delays_) result.delays.push_back(solver_.value(delay));
    for (const Int duration : durations_) result.durations.push_back(solver_.value(duration));
    result.when = condition_values(program_, read_run(program_, solver_));
  }

  const Plan& plan_;
  Solver solver_;
  Terms& terms_;
  Program program_;
  std::optional<Order> order_;
  std::optional<Bytes> bytes_;
  Ticks ticks_;
  std::vector<Int> delays_;
  std::vector<Int> durations_;
  Int lateness_;
  Questions questions_;
};

}  // namespace
}  // namespace smt

SmtTimedResult verify_timed(const Plan& plan, const SmtOptions& options) {
  const auto unknown = [](std::string reason) {
    return SmtTimedResult{.verdict = Verdict::kUnknown, .reason = std::move(reason)};
  };
  if (!plan.iterations) return unknown("the plan runs an unbounded number of iterations");
  const std::uint64_t ops = std::max<std::uint64_t>(plan.ops.size(), 1);
  if (static_cast<std::uint64_t>(*plan.iterations) > options.max_instances / ops) {
    return unknown("there are more than " + std::to_string(options.max_instances) +
                   " command instances");
  }
  const SymbolCases symbols(plan);
  const std::optional<std::uint64_t> count = symbols.count();
  if (!count || *count > options.max_valuations) {
    return unknown("the symbols have more than " + std::to_string(options.max_valuations) +
                   " values");
  }
  SmtTimedResult worst{.verdict = Verdict::kSafe};
  for (std::uint64_t k = 0; k < *count; ++k) {
    const Result<Layout> layout = Layout::make(plan, symbols.at(k));
    if (!layout.ok()) return unknown(layout.errors().front().message);
    const std::vector<Finding> faults = static_faults(plan, layout.value(), 100);
    if (verdict_of(faults) == Verdict::kUnsafe) {
      return {.verdict = Verdict::kUnsafe,
              .fault = "the text of the plan",
              .symbols = symbols.values(symbols.at(k))};
    }
    smt::TimedEncoding encoding(plan, layout.value(), options);
    const std::string problem = encoding.make();
    SmtTimedResult result = problem.empty() ? encoding.ask() : unknown(problem);
    if (result.verdict == Verdict::kSafe) continue;
    result.symbols = symbols.values(symbols.at(k));
    if (result.verdict == Verdict::kUnsafe) return result;
    worst = std::move(result);
  }
  return worst;
}

std::string lateness_words(const Plan& plan, const SmtTimedResult& result) {
  if (result.delays.empty() && result.durations.empty()) return "any of them";
  std::vector<std::string> words;
  for (const QueueId queue : ids(plan.queues)) {
    const std::int64_t delay = result.delays[index(queue)];
    if (delay == plan.queues[queue].delay_min) continue;
    words.push_back(quoted(plan.queues[queue].name) + " delayed by " + counted(delay, "tick"));
  }
  for (const OpId id : ids(plan.ops)) {
    const std::int64_t duration = result.durations[index(id)];
    if (duration == duration_of(plan, plan.ops[id]).min) continue;
    words.push_back(quoted(plan.ops[id].name) + " takes " + counted(duration, "tick"));
  }
  return words.empty() ? "everything as early as it can be" : listed(words);
}

}  // namespace memverify
