// Executes a witness step by step on sim/state.h. It never searches, save that conditions which the
// finding leaves open are tried both ways. Tested by tests/unit/sim/replay_test.cpp.
#include "sim/replayer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/finding_run.h"
#include "plan/words.h"
#include "sim/bytes.h"
#include "sim/clash.h"
#include "sim/state.h"

namespace memverify {
namespace sim {
namespace {

constexpr std::int64_t kMaxCommands = 50'000'000;
constexpr std::size_t kMaxOpenConditions = 6;  ///< Tried both ways; beyond: all or none.

ReplayResult no(std::string reason) { return {.confirmed = false, .reason = std::move(reason)}; }

bool is_shown_by_a_run(Rule rule) {
  return is_race(rule) || rule == Rule::kWrongVersion || rule == Rule::kUnwritten ||
         rule == Rule::kBoundary || rule == Rule::kDeadlock || rule == Rule::kLifetime;
}
constexpr std::int64_t kMostSlotsTried = 64;

/// One attempt: the plan with everything settled.
class Attempt {
 public:
  Attempt(const Plan& plan, const Finding& finding, Stage& stage)
      : plan_(plan),
        finding_(finding),
        stage_(stage),
        setting_(stage.setting()),
        program_(setting_.program) {}

  ReplayResult run() {
    for (std::size_t i = 0; i < finding_.ops.size(); ++i) {
      const std::int64_t iteration = i < finding_.iteration.size() ? finding_.iteration[i] : 0;
      const CommandId c = program_.find(finding_.ops[i], iteration);
      if (c == kNone<CommandId>) {
        return no(op_name(plan_, finding_.ops[i], iteration) + " is no command of this run");
      }
      commands_.push_back(c);
    }
    if (std::string error = look_at_bytes(); !error.empty()) return no(error);
    Execution execution(program_);
    for (std::size_t i = 0; i < finding_.witness.size(); ++i) {
      if (std::string reason = take(execution, finding_.witness[i]); !reason.empty()) {
        return no("step " + std::to_string(i + 1) + ": " + reason);
      }
    }
    return judge(execution);
  }

 private:
  /// The bytes that the rule is about. "" or why they cannot be told apart.
  std::string look_at_bytes() {
    if (is_race(finding_.rule) || finding_.rule == Rule::kDeadlock) return "";
    const bool has_window = !finding_.bytes.empty() && finding_.pool != kNone<PoolId>;
    if (has_window) {
      Result<ByteMap> map = stage_.bytes_in({finding_.pool, finding_.bytes});
      if (!map.ok()) return map.errors().front().message;
      window_map_ = std::move(map).value();
      map_ = &window_map_;
    } else {
      const Result<ByteMap>& map = stage_.bytes();
      if (!map.ok()) return map.errors().front().message;
      map_ = &map.value();
    }
    if (finding_.rule != Rule::kLifetime) {
      memory_.emplace(*map_);
    } else if (has_window) {
      window_lifetimes_ = find_lifetimes(setting_, *map_);
      lifetimes_ = &window_lifetimes_;
    } else {
      lifetimes_ = &stage_.lifetimes();
    }
    return "";
  }

  /// "" or why the step is not allowed.
  std::string take(Execution& execution, const Step& step) {
    const auto name = [&] { return op_name(plan_, step.op, step.iteration); };
    const CommandId c = program_.find(step.op, step.iteration);
    if (c == kNone<CommandId>) return name() + " is no command of this run";
    const Phase wanted = step.complete ? Phase::kOpen : Phase::kWaiting;
    const auto instant = [&] { return (step.complete ? "completion of " : "start of ") + name(); };
    if (execution.phase(c) != wanted) {
      return instant() +
             (execution.phase(c) == Phase::kWaiting ? " before its start" : " happens twice");
    }
    if (const auto need = execution.unmet_need(c)) {
      return instant() + " must wait for " + need_words(plan_, program_, *need);
    }
    if (step.complete) {
      execution.finish(c);
      if (memory_) memory_->finish(c);
      return "";
    }
    if (const auto need = execution.unmet_semaphore(c)) {
      return instant() + " must wait for " + need_words(plan_, *need);
    }
    look_at_start(execution, c);
    execution.start(c);
    if (memory_) memory_->start(c);
    return "";
  }

  bool is_named(CommandId c) const { return std::ranges::find(commands_, c) != commands_.end(); }

  /// What `c` finds in the instant of its start.
  void look_at_start(const Execution& execution, CommandId c) {
    if (finding_.rule == Rule::kLifetime) {
      look_for_lifetime(execution, c);
    } else if (memory_ && finding_.rule != Rule::kBoundary && is_named(c)) {
      for (const Touch& touch : map_->touches_of(c)) {
        if (touch.kind != TouchKind::kRead) continue;
        for (CellId cell : map_->footprints[touch.footprint]) {
          shown_ |= shows(c, memory_->value(cell), expected_value(setting_, *map_, c, touch, cell));
        }
      }
    }
  }

  bool shows(CommandId reader, const Value& found, const Expected& expected) const {
    if (finding_.rule == Rule::kUnwritten) return expected.base == Expected::Base::kNothing;
    if (expected.base == Expected::Base::kNothing || expected.base == Expected::Base::kOpaque ||
        found.base == Value::Base::kTorn || found.base == Value::Base::kOpaque ||
        matches(found, expected)) {
      return false;
    }
    return std::ranges::all_of(commands_, [&](CommandId c) {
      return c == reader || (found.base == Value::Base::kCommand && c == found.command) ||
             std::ranges::binary_search(found.updates, c);
    });
  }

  void look_for_lifetime(const Execution& execution, CommandId c) {
    for (const LifetimeCheck& check : checks_of(*lifetimes_, c)) {
      const Phase other = execution.phase(check.other);
      if (other < check.from || other > check.to) continue;
      shown_ |= !commands_.empty() && std::ranges::all_of(commands_, [&](CommandId named) {
        return named == c || named == check.blame;
      });
    }
  }

  ReplayResult judge(Execution& execution) {
    switch (finding_.rule) {
      case Rule::kWar:
      case Rule::kRaw:
      case Rule::kWaw:
        return judge_race(execution);
      case Rule::kDeadlock:
        return judge_deadlock(execution);
      case Rule::kWrongVersion:
        if (!shown_) return no("the reader does not find a wrong version in this run");
        break;
      case Rule::kUnwritten:
      case Rule::kBoundary:
      case Rule::kLifetime:
        if (!shown_ && !shown_at_end(execution)) {
          return no("the run does not show what the finding says");
        }
        break;
      default:
        return no("no run shows this rule");
    }
    return {.confirmed = true, .reason = ""};
  }

  ReplayResult judge_race(const Execution& execution) {
    if (commands_.size() != 2) return no("a race has two ops");
    for (std::size_t i = 0; i < 2; ++i) {
      if (execution.phase(commands_[i]) == Phase::kOpen) continue;
      return no(op_name(plan_, finding_.ops[i], program_.commands[commands_[i]].iteration) +
                " is not between its start and its completion at the end of the run");
    }
    const std::vector<Clash> clashes = find_clashes(setting_, commands_[0], commands_[1]);
    for (const Clash& clash : clashes) {
      if (clash.rule != finding_.rule) continue;
      if (finding_.bytes.empty()) return {.confirmed = true, .reason = ""};
      if (clash.first.pool() == finding_.pool &&
          clash.first.clipped(finding_.bytes).first_overlap(clash.second) == finding_.bytes) {
        return {.confirmed = true, .reason = ""};
      }
    }
    return no("the two ops do not clash on these bytes in the way this rule says");
  }

  ReplayResult judge_deadlock(Execution& execution) {
    for (CommandId c : ids(program_.commands)) {
      const Command& command = program_.commands[c];
      if (execution.can_start(c) || execution.can_finish(c)) {
        return no(op_name(plan_, command.op, command.iteration) + " can still go on");
      }
    }
    for (CommandId c : commands_) {
      if (execution.phase(c) != Phase::kDone) continue;
      return no(op_name(plan_, program_.commands[c].op, program_.commands[c].iteration) +
                " has completed");
    }
    if (execution.done() == program_.commands.size()) return no("everything has completed");
    return {.confirmed = true, .reason = ""};
  }

  /// Reads after everything has completed.
  bool shown_at_end(const Execution& execution) const {
    if (execution.done() != program_.commands.size() || finding_.tensors.empty()) return false;
    const TensorId tensor = finding_.tensors.front();
    if (finding_.rule == Rule::kLifetime) {
      return std::ranges::find(lifetimes_->dead_at_end, tensor, &DeadAtEnd::tensor) !=
             lifetimes_->dead_at_end.end();
    }
    if (finding_.rule == Rule::kUnwritten && !finding_.ops.empty()) return false;
    return std::ranges::any_of(map_->end_reads, [&](const EndRead& read) {
      if (read.tensor != tensor) return false;
      return std::ranges::any_of(map_->footprints[read.footprint], [&](CellId cell) {
        const Expected expected = expected_at_end(setting_, *map_, read, cell);
        const Value found = memory_->value(cell);
        if (finding_.rule == Rule::kUnwritten) return expected.base == Expected::Base::kNothing;
        return expected.base != Expected::Base::kNothing &&
               expected.base != Expected::Base::kOpaque && found.base != Value::Base::kOpaque &&
               !matches(found, expected);
      });
    });
  }

  const Plan& plan_;
  const Finding& finding_;
  Stage& stage_;
  const Setting setting_;
  const Program& program_;
  std::vector<CommandId> commands_;  ///< Of finding.ops.
  ByteMap window_map_;
  Lifetimes window_lifetimes_;
  const ByteMap* map_ = nullptr;          ///< Of the window if there is one, else of the stage.
  const Lifetimes* lifetimes_ = nullptr;  ///< MV112: likewise.
  std::optional<Memory> memory_;          ///< MV104 to MV106.
  bool shown_ = false;
};

Valuation values_of_symbols(const Plan& plan, const Finding& finding) {
  Valuation valuation;
  for (const Symbol& symbol : plan.symbols) valuation.symbols.push_back(least_value(symbol));
  for (const SymbolValue& given : finding.symbols) {
    valuation.symbols[index(given.symbol)] = given.value;
  }
  return valuation;
}

/// The condition values that a finding fixes, and those it leaves open.
class Conditions {
 public:
  Conditions(const Plan& plan, const Finding& finding, const Case& settled)
      : plan_(plan), settled_(settled), fixed_(plan, settled.iterations), values_(fixed_) {
    for (const ConditionValue& given : finding.when) {
      if (given.iteration >= settled.iterations) continue;
      if (given.iteration >= 0) fix(given.condition, given.iteration, given.value);
      for (std::int64_t i = 0; given.iteration < 0 && i < settled.iterations; ++i) {
        fix(given.condition, i, given.value);
      }
    }
    for (const Step& step : finding.witness) {
      if (!plan.ops[step.op].skipped_pass) force(step.op, step.iteration);
    }
    for (std::size_t i = 0; i < finding.ops.size(); ++i) {
      force(finding.ops[i], i < finding.iteration.size() ? finding.iteration[i] : 0);
    }
    for (ConditionId c : ids(plan.conditions)) {
      const std::int64_t end = plan.conditions[c].per_run ? 1 : settled.unrolled;
      for (std::int64_t i = 0; i < end; ++i) {
        if (!fixed_.get(c, i)) open_.emplace_back(c, i);
      }
    }
  }

  /// How many assignments are worth a try.
  std::uint64_t size() const {
    return open_.size() <= kMaxOpenConditions ? std::uint64_t{1} << open_.size() : 2;
  }
  ConditionValues assignment(std::uint64_t number) const {
    ConditionValues values = values_;
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const bool value = open_.size() <= kMaxOpenConditions ? (number >> k & 1U) != 0 : number != 0;
      values.set(open_[k].first, open_[k].second, value);
    }
    return values;
  }

 private:
  void fix(ConditionId condition, std::int64_t iteration, bool value) {
    fixed_.set(condition, iteration, true);
    values_.set(condition, iteration, value);
  }
  void force(OpId op, std::int64_t iteration) {
    if (iteration < 0 || iteration >= settled_.unrolled) return;
    for (const WhenTerm& term : plan_.when_of(plan_.ops[op])) {
      if (!fixed_.get(term.condition, iteration)) fix(term.condition, iteration, term.value);
    }
  }

  const Plan& plan_;
  const Case& settled_;
  ConditionValues fixed_;  ///< True where the value is settled.
  ConditionValues values_;
  std::vector<std::pair<ConditionId, std::int64_t>> open_;
};

std::int64_t most_slots(const Plan& plan) {
  std::size_t most = 1;
  for (const Storage& storage : plan.storages)
    most = std::max<std::size_t>(most, storage.slots.size());
  return static_cast<std::int64_t>(most);
}

}  // namespace
}  // namespace sim

ReplayResult Replayer::replay_case(const Finding& finding, sim::Case settled) {
  const sim::Conditions conditions(plan_, finding, settled);
  ReplayResult first;
  for (std::uint64_t number = 0; number < conditions.size(); ++number) {
    settled.conditions = conditions.assignment(number);
    if (std::string error = stage_.make_commands(settled); !error.empty()) return sim::no(error);
    ReplayResult result = sim::Attempt(plan_, finding, stage_).run();
    taken_ += finding.witness.size();
    if (result.confirmed) return result;
    if (first.reason.empty()) first = std::move(result);
  }
  return first;
}

ReplayResult Replayer::replay_any_length(const Finding& finding) {
  if (!sim::is_shown_by_a_run(finding.rule)) return sim::no("no run shows this rule");
  sim::Case settled{.symbols = sim::values_of_symbols(plan_, finding)};
  if (std::string error = stage_.lay_out(settled.symbols); !error.empty()) return sim::no(error);

  std::int64_t last = last_iteration(finding);
  if (plan_.iterations && last >= *plan_.iterations) {
    return sim::no("there is no iteration " + std::to_string(last));
  }
  last = std::min(last, sim::kMaxCommands);
  // Of an unbounded number of iterations, one where the last one is not yet reached, and one where
  // it is: ops that run only then are the one thing that makes a difference. What is found at the
  // end may be in any slot.
  std::vector<std::int64_t> lengths{last + 2, last + 1};
  if (looks_at_the_end(finding)) {
    const std::int64_t turn = std::min(sim::most_slots(plan_), sim::kMostSlotsTried);
    for (std::int64_t more = 3; more <= turn + 1; ++more) lengths.push_back(last + more);
  }
  if (plan_.iterations) lengths = {*plan_.iterations};
  ReplayResult first;
  for (std::int64_t iterations : lengths) {
    settled.iterations = iterations;
    settled.unrolled = looks_at_the_end(finding) ? iterations : last + 1;
    const auto ops = static_cast<std::int64_t>(plan_.ops.size());
    if (ops > 0 && settled.unrolled > sim::kMaxCommands / ops) {
      return sim::no("iteration " + std::to_string(settled.unrolled - 1) +
                     " is further than a replay goes");
    }
    ReplayResult result = replay_case(finding, settled);
    if (result.confirmed) return result;
    if (first.reason.empty()) first = std::move(result);
  }
  return first;
}

ReplayResult Replayer::replay(const Finding& finding) {
  const std::uint64_t before = stage_.steps();
  taken_ = 0;
  ReplayResult result = replay_any_length(finding);
  result.steps = taken_ + stage_.steps() - before;
  return result;
}

ReplayResult replay(const Plan& plan, const Finding& finding) {
  return Replayer(plan).replay(finding);
}

}  // namespace memverify
