#include "sim/timed.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

#include "plan/words.h"
#include "sim/cases.h"
#include "sim/lifetime.h"
#include "sim/reads.h"
#include "sim/state.h"

namespace memverify {
namespace sim {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

using Ticks = std::vector<std::int64_t>;

/// What is varied: first the delay of each queue, then the duration of each op; each in [lo, hi].
struct Knobs {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  std::size_t queues = 0;
};

Knobs knobs_of(const Plan& plan, const TimedOptions& options) {
  Knobs knobs{.ranges = {}, .queues = plan.queues.size()};
  for (const Queue& queue : plan.queues) {
    knobs.ranges.push_back(options.delays.value_or(std::pair(queue.delay_min, queue.delay_max)));
  }
  for (const Op& op : plan.ops) {
    const Duration duration = duration_of(plan, op);
    const bool runs = op.kind != OpKind::kView;
    knobs.ranges.emplace_back(duration.min, runs ? duration.max : duration.min);
  }
  return knobs;
}

/// One eager run under given delays and durations.
class TimedRun {
 public:
  TimedRun(const Setting& setting, const ByteMap& map, const Reads& reads,
           const Lifetimes& lifetimes, const Knobs& knobs, const Ticks& values)
      : setting_(setting),
        plan_(setting.plan),
        program_(setting.program),
        map_(map),
        reads_(reads),
        lifetimes_(lifetimes),
        knobs_(knobs),
        values_(values),
        execution_(program_),
        memory_(map),
        window_(program_.commands.size(), {kNever, kNever}) {
    for (CommandId c : ids(program_.commands)) waiting_.push_back(c);
  }

  void run() {
    while (true) {
      while (step_at_now()) {
      }
      const std::int64_t next = next_event();
      if (next == kNever) break;
      now_ = next;
    }
    if (execution_.done() != program_.commands.size()) {
      note("it ends in a deadlock");
    } else {
      for (const Demand& demand : reads_.at_end) judge(demand, "the end");
      if (!lifetimes_.dead_at_end.empty()) note("an output or input is dead at the end");
    }
    find_races();
  }

  const std::string& fault() const { return fault_; }
  std::int64_t makespan() const { return now_; }
  std::vector<TimedStep> timeline() const { return timeline_; }

 private:
  std::string command_name(CommandId c) const {
    return op_name(plan_, program_.commands[c].op, program_.commands[c].iteration);
  }
  void note(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
  }

  std::int64_t delay_of(CommandId c) const {
    const Op& op = plan_.ops[program_.commands[c].op];
    if (op.queue != kNone<QueueId>) return values_[index(op.queue)];
    std::int64_t delay = 0;
    for (QueueId queue : plan_.queues_of(op)) delay = std::max(delay, values_[index(queue)]);
    return delay;
  }

  void log(CommandId c, bool complete) {
    const Command& command = program_.commands[c];
    timeline_.push_back(
        {{complete, command.op, static_cast<std::int64_t>(command.iteration)}, now_});
  }

  /// Everything that may happen now, completions first. False when there is nothing.
  bool step_at_now() {
    bool moved = false;
    std::erase_if(open_, [&](CommandId c) {
      if (window_[index(c)].second > now_ || !execution_.can_finish(c)) return false;
      window_[index(c)].second = now_;
      execution_.finish(c);
      memory_.finish(c);
      log(c, true);
      return moved = true;
    });
    std::erase_if(waiting_, [&](CommandId c) {
      if (delay_of(c) > now_ || !execution_.can_start(c)) return false;
      start(c);
      return moved = true;
    });
    return moved;
  }

  void start(CommandId c) {
    for (const LifetimeCheck& check : checks_of(lifetimes_, c)) {
      const Phase other = execution_.phase(check.other);
      if (other >= check.from && other <= check.to) {
        note(command_name(c) + " acts outside alloc and free");
      }
    }
    for (const Demand& demand : demands_of(reads_, c)) {
      judge(demand, command_name(c));
    }
    const std::size_t knob = knobs_.queues + index(program_.commands[c].op);
    window_[index(c)] = {now_, now_ + values_[knob]};
    execution_.start(c);
    memory_.start(c);
    open_.push_back(c);
    log(c, false);
  }

  void judge(const Demand& demand, const std::string& who) {
    if (demand.is_open) return;
    const Value found = memory_.value(demand.cell);
    if (found.base == Value::Base::kTorn) return;
    if (demand.expected.base == Expected::Base::kNothing) {
      note(who + " reads " + tensor_words(plan_, demand.tensor) + ", which nothing has written");
    } else if (!meets(setting_, map_, found, demand)) {
      const CommandId writer = culprit(found, demand.expected);
      note(who + " finds a wrong version of " + tensor_words(plan_, demand.tensor) +
           (writer == kNone<CommandId> ? "" : ", that of " + command_name(writer)));
    }
  }

  /// The next tick at which something ends or a queue's delay is over.
  std::int64_t next_event() const {
    std::int64_t next = kNever;
    for (CommandId c : open_) {
      if (window_[index(c)].second > now_) next = std::min(next, window_[index(c)].second);
    }
    for (CommandId c : waiting_) {
      if (delay_of(c) > now_) next = std::min(next, delay_of(c));
    }
    return next;
  }

  /// Half-open windows of conflicting commands that have a tick in common.
  void find_races() {
    std::vector<std::vector<std::pair<CommandId, const Touch*>>> uses(map_.cells.size());
    for (CommandId c : ids(program_.commands)) {
      if (window_[index(c)].first == kNever) continue;
      for (const Touch& touch : map_.touches_of(c)) {
        if (touch.kind == TouchKind::kOpaque) continue;
        for (CellId cell : map_.footprints[touch.footprint]) {
          for (const auto& [other, theirs] : uses[cell]) {
            if (other != c && conflict(*theirs, touch) && overlap(other, c)) {
              note(command_name(other) + " and " + command_name(c) +
                   " access the same bytes at the same time");
              return;
            }
          }
          uses[cell].emplace_back(c, &touch);
        }
      }
    }
  }
  bool overlap(CommandId a, CommandId b) const {
    const auto& x = window_[index(a)];
    const auto& y = window_[index(b)];
    return std::max(x.first, y.first) < std::min(x.second, y.second);
  }

  const Setting& setting_;
  const Plan& plan_;
  const Program& program_;
  const ByteMap& map_;
  const Reads& reads_;
  const Lifetimes& lifetimes_;
  const Knobs& knobs_;
  const Ticks& values_;
  Execution execution_;
  Memory memory_;
  std::vector<std::pair<std::int64_t, std::int64_t>> window_;  ///< By command: [start, end).
  std::vector<CommandId> waiting_;
  std::vector<CommandId> open_;
  std::vector<TimedStep> timeline_;
  std::int64_t now_ = 0;
  std::string fault_;
};

class TimedSimulation {
 public:
  TimedSimulation(const Plan& plan, const TimedOptions& options)
      : plan_(plan), options_(options), knobs_(knobs_of(plan, options)) {}

  TimedResult run() {
    std::uint64_t all = 1;
    for (const auto& [lo, hi] : knobs_.ranges) {
      const auto width = static_cast<std::uint64_t>(hi - lo) + 1;
      if (__builtin_mul_overflow(all, width, &all)) all = 0;
      if (all == 0) break;
    }
    result_.combinations = all == 0 ? "more than 2^64" : std::to_string(all);
    result_.all = all != 0 && all <= options_.max_runs;
    SimOptions sim_options;
    sim_options.max_cases = options_.max_cases;
    sim_options.unbounded_iterations = options_.unbounded_iterations;
    const Cases cases(plan_, sim_options);
    result_.all &= cases.left_out().empty();
    if (cases.valuations() == 0) result_.error = cases.left_out();
    for (std::uint64_t v = 0; v < cases.valuations(); ++v) {
      const auto layout = Layout::make(plan_, cases.valuation(v));
      if (!layout.ok()) {
        result_.error = layout.errors().front().message;
        continue;
      }
      for (std::uint64_t a = 0; a < cases.assignments(); ++a) {
        run_case(cases.settled(v, a), layout.value());
      }
    }
    if (result_.runs > 0) result_.error.clear();
    return std::move(result_);
  }

 private:
  void run_case(const Case& settled, const Layout& layout) {
    const auto program = make_program(plan_, settled);
    if (!program.ok()) {
      result_.error = program.errors().front().message;
      return;
    }
    const Setting setting{plan_, layout, program.value()};
    const auto map = map_bytes(setting, std::nullopt, kMaxIncidences);
    if (!map.ok()) {
      result_.error = map.errors().front().message;
      return;
    }
    const Lifetimes lifetimes = find_lifetimes(setting, map.value());
    const Reads reads = collect_reads(setting, map.value());
    ++result_.cases;
    std::mt19937_64 random(options_.seed);
    Ticks values;
    for (const auto& [lo, hi] : knobs_.ranges) values.push_back(lo);
    const bool every = result_.all;
    for (std::uint64_t number = 0; number < (every ? kForever : options_.max_runs); ++number) {
      if (is_late()) {
        result_.stopped = true;
        return;
      }
      if (!every) draw(random, values);
      TimedRun run(setting, map.value(), reads, lifetimes, knobs_, values);
      run.run();
      record(settled, run, values);
      if (every && !advance(values)) break;
    }
  }

  bool is_late() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return options_.max_seconds > 0 && spent.count() >= options_.max_seconds;
  }

  void draw(std::mt19937_64& random, Ticks& values) const {
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto& [lo, hi] = knobs_.ranges[k];
      values[k] =
          lo + static_cast<std::int64_t>(random() % (static_cast<std::uint64_t>(hi - lo) + 1));
    }
  }

  /// The next combination, the first knob fastest; false after the last one.
  bool advance(Ticks& values) const {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] < knobs_.ranges[k].second) {
        ++values[k];
        return true;
      }
      values[k] = knobs_.ranges[k].first;
    }
    return false;
  }

  std::int64_t lateness(const Ticks& values) const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < values.size(); ++k) sum += values[k] - knobs_.ranges[k].first;
    return sum;
  }

  void record(const Case& settled, const TimedRun& run, const Ticks& values) {
    const bool first = result_.runs == 0;
    ++result_.runs;
    result_.least_makespan =
        first ? run.makespan() : std::min(result_.least_makespan, run.makespan());
    result_.greatest_makespan = std::max(result_.greatest_makespan, run.makespan());
    if (run.fault().empty()) return;
    ++result_.failing;
    if (result_.smallest && lateness_ <= lateness(values)) return;
    lateness_ = lateness(values);
    const auto split = values.begin() + static_cast<std::ptrdiff_t>(knobs_.queues);
    result_.smallest = TimedFailure{.delays = {values.begin(), split},
                                    .durations = {split, values.end()},
                                    .symbols = symbols_of(plan_, settled),
                                    .when = conditions_of(plan_, settled),
                                    .timeline = run.timeline(),
                                    .makespan = run.makespan(),
                                    .fault = run.fault()};
  }

  static constexpr std::uint64_t kForever = ~std::uint64_t{0};

  const Plan& plan_;
  const TimedOptions& options_;
  const Knobs knobs_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  TimedResult result_;
  std::int64_t lateness_ = 0;  ///< Of result_.smallest.
};

}  // namespace
}  // namespace sim

TimedResult simulate_timed(const Plan& plan, const TimedOptions& options) {
  return sim::TimedSimulation(plan, options).run();
}

std::string lateness_words(const Plan& plan, const TimedOptions& options,
                           const TimedFailure& failure) {
  const sim::Knobs knobs = sim::knobs_of(plan, options);
  std::vector<std::string> words;
  for (QueueId queue : ids(plan.queues)) {
    const std::int64_t delay = failure.delays[index(queue)];
    if (delay == knobs.ranges[index(queue)].first) continue;
    words.push_back(quoted(plan.queues[queue].name) + " delayed by " + counted(delay, "tick"));
  }
  for (OpId op : ids(plan.ops)) {
    const std::int64_t duration = failure.durations[index(op)];
    if (duration == knobs.ranges[knobs.queues + index(op)].first) continue;
    words.push_back(quoted(plan.ops[op].name) + " takes " + counted(duration, "tick"));
  }
  return words.empty() ? "everything as early as it can be" : listed(words);
}

}  // namespace memverify
