#include "tools/drawn_run.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "sim/state.h"

namespace memverify {
namespace {

using sim::CommandId;
using sim::Need;
using sim::Phase;

constexpr std::int64_t kFewIterations = 3;   ///< Drawn of a plan that repeats, at least.
constexpr std::int64_t kMostIterations = 8;  ///< Drawn for slots that rotate.
constexpr std::int64_t kMostCommands = 1 << 22;

std::int64_t greatest_value(const Symbol& symbol) {
  const std::int64_t least = least_value(symbol);
  if (!symbol.max || *symbol.max < least) return least;
  return least + (*symbol.max - least) / symbol.multiple_of * symbol.multiple_of;
}

std::int64_t last_iteration(const Finding& finding) {
  std::int64_t last = 0;
  for (const Step& step : finding.witness) last = std::max(last, step.iteration);
  for (const std::int64_t iteration : finding.iteration) last = std::max(last, iteration);
  return last;
}

std::int64_t iterations_to_draw(const Plan& plan, const Finding* finding) {
  std::int64_t wanted = kFewIterations;
  for (const Storage& storage : plan.storages) {
    wanted = std::max(wanted, std::min<std::int64_t>(storage.slots.size() + 1, kMostIterations));
  }
  if (finding != nullptr) wanted = std::max(wanted, last_iteration(*finding) + 2);
  wanted = std::min(wanted, plan.iterations.value_or(wanted));
  const auto ops = std::max<std::int64_t>(static_cast<std::int64_t>(plan.ops.size()), 1);
  return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(kMostCommands / ops, 1));
}

/// Fills the conditions that `fixed` does not hold.
class CaseConditions {
 public:
  CaseConditions(const Plan& plan, sim::Case& settled) : plan_(plan), settled_(settled) {
    settled_.conditions = fixed_ = sim::ConditionValues(plan, settled.iterations);
  }
  void fix(ConditionId condition, std::int64_t iteration, bool value) {
    if (iteration < 0 || iteration >= settled_.iterations) return;
    if (fixed_.get(condition, iteration)) return;
    fixed_.set(condition, iteration, true);
    settled_.conditions.set(condition, iteration, value);
  }
  void fix_all(const ConditionValue& given) {
    if (given.iteration >= 0) fix(given.condition, given.iteration, given.value);
    for (std::int64_t i = 0; given.iteration < 0 && i < settled_.iterations; ++i) {
      fix(given.condition, i, given.value);
    }
  }
  /// So that the op runs.
  void force(OpId op, std::int64_t iteration) {
    for (const WhenTerm& term : plan_.when_of(plan_.ops[op])) {
      fix(term.condition, iteration, term.value);
    }
  }
  void leave_rest(bool value) {
    for (const ConditionId condition : ids(plan_.conditions)) {
      fix_all({.condition = condition, .iteration = -1, .value = value});
    }
  }

 private:
  const Plan& plan_;
  sim::Case& settled_;
  sim::ConditionValues fixed_;
};

}  // namespace

sim::Case drawn_case(const Plan& plan, const Finding* finding, std::int64_t iterations) {
  sim::Case settled;
  for (const Symbol& symbol : plan.symbols) {
    settled.symbols.symbols.push_back(finding != nullptr ? least_value(symbol)
                                                         : greatest_value(symbol));
  }
  settled.unrolled = std::min(iterations, plan.iterations.value_or(iterations));
  settled.iterations = settled.unrolled;
  CaseConditions conditions(plan, settled);
  if (finding != nullptr) {
    for (const SymbolValue& given : finding->symbols) {
      settled.symbols.symbols[index(given.symbol)] = given.value;
    }
    for (const ConditionValue& given : finding->when) conditions.fix_all(given);
    for (const Step& step : finding->witness) {
      if (!plan.ops[step.op].skipped_pass) conditions.force(step.op, step.iteration);
    }
  }
  conditions.leave_rest(true);
  // Whether the last drawn iteration is the plan's last one decides what `runs: last` does.
  if (plan.iterations) settled.iterations = *plan.iterations;
  return settled;
}

namespace {

/// The eager run. A command that cannot go on is parked on the first thing that it needs.
class EagerRun {
 public:
  EagerRun(const Plan& plan, DrawnRun& run)
      : plan_(plan),
        run_(run),
        program_(run.program),
        execution_(run.program),
        next_(program_.commands.size(), kNobody),
        on_start_(program_.commands.size(), kNobody),
        on_end_(program_.commands.size(), kNobody),
        on_sequence_(program_.sequences.size(), kNobody),
        on_semaphore_(plan.semaphores.size(), kNobody),
        prefix_(program_.sequences.size(), 0),
        last_signal_(plan.semaphores.size(), kNone<CommandId>) {
    run_.spans.resize(program_.commands.size());
    run_.met_by.assign(program_.semaphore_needs.size(), kNone<CommandId>);
  }

  void run() {
    for (const CommandId c : ids(program_.commands)) ready_.push(index(c));
    go_on();
    while (!open_.empty()) {
      now_ = open_.top().first;
      while (!open_.empty() && open_.top().first <= now_) {
        ready_.push(open_.top().second);
        open_.pop();
      }
      go_on();
    }
    run_.end = now_;
    run_.stuck = program_.commands.size() - execution_.done();
  }

 private:
  static constexpr std::uint32_t kNobody = 0xFFFFFFFFU;
  using Soonest = std::greater<>;

  std::int64_t weight(CommandId c) const {
    const Op& op = plan_.ops[program_.commands[c].op];
    if (run_.time == DrawnTime::kTicks) return duration_of(plan_, op).max;
    return is_counted(op.kind) ? 1 : 0;
  }

  /// Everything that may happen now, in program order.
  void go_on() {
    while (!ready_.empty()) {
      const CommandId c{ready_.top()};
      ready_.pop();
      if (execution_.phase(c) == Phase::kDone) continue;
      if (const auto need = execution_.unmet_need(c)) {
        park(c, *need);
      } else if (execution_.phase(c) == Phase::kOpen) {
        finish(c);
      } else if (const auto semaphore = execution_.unmet_semaphore(c)) {
        park_in(on_semaphore_[index(semaphore->semaphore)], c);
      } else {
        start(c);
      }
    }
  }

  void start(CommandId c) {
    const std::uint32_t first = program_.semaphore_begin[index(c)];
    for (std::size_t k = 0; k < program_.semaphores_of(c).size(); ++k) {
      run_.met_by[first + k] = last_signal_[index(program_.semaphores_of(c)[k].semaphore)];
    }
    execution_.start(c);
    run_.spans[c].start = now_;
    open_.emplace(now_ + weight(c), index(c));
    wake(on_start_[index(c)]);
  }

  void finish(CommandId c) {
    execution_.finish(c);
    run_.spans[c].end = now_;
    wake(on_end_[index(c)]);
    for (const sim::SemaphoreSignal& signal : program_.signals_of(c)) {
      last_signal_[index(signal.semaphore)] = c;
      wake(on_semaphore_[index(signal.semaphore)]);
    }
    const Op& op = plan_.ops[program_.commands[c].op];
    if (op.queue != kNone<QueueId>) wake_sequences(op.queue);
    for (const QueueId queue : plan_.queues_of(op)) wake_sequences(queue);
    wake(on_sequence_.back());
  }

  void wake_sequences(QueueId queue) {
    wake(on_sequence_[2 * std::size_t{index(queue)}]);
    wake(on_sequence_[2 * std::size_t{index(queue)} + 1]);
  }

  void park_in(std::uint32_t& list, CommandId c) {
    next_[index(c)] = list;
    list = index(c);
  }
  void wake(std::uint32_t& list) {
    while (list != kNobody) {
      ready_.push(list);
      list = next_[list];
    }
  }

  void park(CommandId c, const Need& need) {
    switch (need.kind) {
      case Need::Kind::kDone:
        return park_in(on_end_[need.at], c);
      case Need::Kind::kStarted:
        return park_in(on_start_[need.at], c);
      case Need::Kind::kPrefix: {
        std::uint32_t& prefix = prefix_[need.at];
        const std::vector<CommandId>& sequence = program_.sequences[need.at];
        while (execution_.phase(sequence[prefix]) == Phase::kDone) ++prefix;
        return park_in(on_end_[index(sequence[prefix])], c);
      }
      case Need::Kind::kCount:
        return park_in(on_sequence_[need.at], c);
    }
  }

  const Plan& plan_;
  DrawnRun& run_;
  const sim::Program& program_;
  sim::Execution execution_;
  std::int64_t now_ = 0;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, Soonest> ready_;
  std::priority_queue<std::pair<std::int64_t, std::uint32_t>,
                      std::vector<std::pair<std::int64_t, std::uint32_t>>, Soonest>
      open_;
  // Lists of parked commands, linked through next_: a command is in one of them at most.
  std::vector<std::uint32_t> next_, on_start_, on_end_, on_sequence_, on_semaphore_;
  std::vector<std::uint32_t> prefix_;  ///< By sequence: so many first commands have completed.
  std::vector<CommandId> last_signal_;
};

/// The syncs of a need; the order of queues and threads is none.
void add_sync(const DrawnRun& run, CommandId to, const Need& need, std::vector<DrawnSync>& syncs) {
  if (need.reason == Need::Reason::kQueue || need.reason == Need::Reason::kFence ||
      need.reason == Need::Reason::kThread || need.reason == Need::Reason::kRecord) {
    return;
  }
  CommandId from = kNone<CommandId>;
  if (need.kind == Need::Kind::kDone || need.kind == Need::Kind::kStarted) {
    from = CommandId{need.at};
  } else if (need.first > 0) {  // Of several, the one that completes last of those needed.
    const std::uint32_t last = need.kind == Need::Kind::kPrefix ? need.first : need.least;
    from = run.program.sequences[need.at][last - 1];
  }
  if (from != kNone<CommandId> && from != to) syncs.push_back({from, to, need.reason, false});
}

}  // namespace

Result<DrawnRun> draw_run(const Plan& plan, const std::vector<Finding>& findings, DrawnTime time) {
  const auto shown = std::ranges::find_if(
      findings, [](const Finding& finding) { return !finding.witness.empty(); });
  const Finding* const finding = shown == findings.end() ? nullptr : &*shown;
  sim::Case settled = drawn_case(plan, finding, iterations_to_draw(plan, finding));
  Result<Layout> layout = Layout::make(plan, settled.symbols);
  if (!layout.ok()) return layout.errors();
  Result<sim::Program> program = sim::make_program(plan, settled);
  if (!program.ok()) return program.errors();
  DrawnRun run{.settled = std::move(settled),
               .layout = std::move(layout).value(),
               .program = std::move(program).value(),
               .time = time,
               .spans = {},
               .met_by = {}};
  EagerRun(plan, run).run();
  return run;
}

std::vector<DrawnSync> drawn_syncs(const DrawnRun& run) {
  std::vector<DrawnSync> syncs;
  for (const CommandId c : ids(run.program.commands)) {
    for (const Need& need : run.program.to_start(c)) add_sync(run, c, need, syncs);
    const std::uint32_t first = run.program.semaphore_begin[index(c)];
    for (std::size_t k = 0; k < run.program.semaphores_of(c).size(); ++k) {
      const CommandId from = run.met_by[first + k];
      if (from == kNone<CommandId>) continue;
      syncs.push_back({from, c, Need::Reason::kEvent, true});
    }
  }
  return syncs;
}

}  // namespace memverify
