// Directed runs: from a finding with its run to the gates that make it happen.
#include <algorithm>
#include <utility>

#include "cuda_check/check.h"
#include "cuda_check/follow.h"
#include "cuda_check/lower.h"
#include "cuda_check/prepared.h"
#include "plan/finding_run.h"
#include "plan/words.h"

namespace memverify::device {
namespace {

/// A condition in one iteration.
using Variable = std::pair<ConditionId, std::int64_t>;

/// Sets what the witness says about conditions, and returns what it leaves open.
std::vector<Variable> fix_conditions(const Plan& plan, const Finding& witness, Settled& settled) {
  Conditions fixed = settled.conditions;
  const auto fix = [&](ConditionId c, std::int64_t i, bool value) {
    if (i >= settled.unrolled || (i < 0 && !plan.conditions[c].per_run)) return;
    const std::int64_t at = std::max<std::int64_t>(i, 0);
    if (fixed.get(c, at)) return;
    fixed.set(c, at, true);
    settled.conditions.set(c, at, value);
  };
  for (const ConditionValue& given : witness.when) {
    fix(given.condition, given.iteration, given.value);
    for (std::int64_t i = 0; given.iteration < 0 && i < settled.unrolled; ++i) {
      fix(given.condition, i, given.value);
    }
  }
  const auto force = [&](OpId op, std::int64_t iteration) {
    for (const WhenTerm& term : plan.when_of(plan.ops[op])) {
      fix(term.condition, iteration, term.value);
    }
  };
  for (const Step& step : witness.witness) {
    if (!plan.ops[step.op].skipped_pass) force(step.op, step.iteration);
  }
  for (std::size_t i = 0; i < witness.ops.size() && i < witness.iteration.size(); ++i) {
    force(witness.ops[i], witness.iteration[i]);
  }
  std::vector<Variable> open;
  for (const ConditionId c : ids(plan.conditions)) {
    const std::int64_t count = plan.conditions[c].per_run ? 1 : settled.unrolled;
    for (std::int64_t i = 0; i < count; ++i) {
      if (!fixed.get(c, i)) open.emplace_back(c, i);
    }
  }
  return open;
}

/// How many iterations to submit, the likelier first.
std::vector<Settled> lengths(const Plan& plan, const Finding& witness) {
  const std::int64_t last = last_iteration(witness);
  std::vector<std::int64_t> all{last + 2, last + 1};
  if (plan.iterations) all = {std::max(*plan.iterations, last + 1)};
  std::vector<Settled> cases;
  for (const std::int64_t iterations : all) {
    Settled settled{.iterations = iterations,
                    .unrolled = looks_at_the_end(witness) ? iterations : last + 1};
    for (const Symbol& symbol : plan.symbols) {
      settled.symbols.symbols.push_back(least_value(symbol));
    }
    for (const SymbolValue& given : witness.symbols) {
      settled.symbols.symbols[index(given.symbol)] = given.value;
    }
    cases.push_back(std::move(settled));
  }
  return cases;
}

/// The case in which the calls can follow the witness, or how far one got.
struct FittingCase {
  std::unique_ptr<Prepared> prepared;
  std::size_t followed = 0;
  std::vector<Diagnostic> errors;
};

bool race_has_work(const Prepared& prepared, const Finding& witness) {
  if (!is_race(witness.rule)) return true;
  return std::ranges::all_of(witness.ops, [&](OpId op) {
    return std::ranges::any_of(prepared.calls.calls, [&](const Call& call) {
      return call.kind == CallKind::kWork && prepared.calls.commands[call.command].op == op;
    });
  });
}

FittingCase find_case(const Plan& plan, const Finding& witness, const CheckOptions& options) {
  constexpr std::size_t kMostOpen = 6;  // Tried both ways; beyond: all or none.
  FittingCase found;
  for (Settled& settled : lengths(plan, witness)) {
    const auto ops = std::max<std::int64_t>(1, static_cast<std::int64_t>(plan.ops.size()));
    if (settled.unrolled > 4 * kMaxCommands / ops) {
      found.errors = {{.id = "device.size", .message = "the run goes on for too many iterations"}};
      return found;
    }
    settled.conditions = Conditions(plan, settled.unrolled);
    const std::vector<Variable> open = fix_conditions(plan, witness, settled);
    const std::size_t tries = open.size() <= kMostOpen ? std::size_t{1} << open.size() : 2;
    for (std::size_t n = 0; n < tries; ++n) {
      for (std::size_t k = 0; k < open.size(); ++k) {
        const bool value = open.size() <= kMostOpen ? (n >> k & 1U) != 0 : n != 0;
        settled.conditions.set(open[k].first, open[k].second, value);
      }
      auto prepared = prepare(plan, settled, options);
      if (!prepared.ok()) {
        found.errors = prepared.errors();
        return found;
      }
      const std::vector<Instant> run = instants(prepared.value()->calls, witness.witness);
      const std::size_t followed = follow(prepared.value()->calls, run);
      found.followed = std::max(found.followed, followed);
      if (followed == witness.witness.size() && race_has_work(*prepared.value(), witness)) {
        found.prepared = std::move(prepared).value();
        return found;
      }
    }
  }
  return found;
}

std::pair<CommandId, CommandId> race_of(const Calls& calls, const Finding& witness) {
  std::pair<CommandId, CommandId> pair{kNone<CommandId>, kNone<CommandId>};
  if (!is_race(witness.rule) || witness.ops.size() != 2) return pair;
  const auto find = [&](std::size_t i) {
    return calls.find(witness.ops[i], i < witness.iteration.size() ? witness.iteration[i] : 0);
  };
  return {find(0), find(1)};
}

}  // namespace

Result<CheckResult> check_witness(const Plan& plan, const Finding& witness,
                                  const CheckOptions& options) {
  FittingCase found = find_case(plan, witness, options);
  if (!found.errors.empty()) return found.errors;
  if (found.prepared == nullptr) {
    const bool some = found.followed < witness.witness.size();
    return Diagnostic{.id = "witness.run",
                      .message = some ? "the plan does not allow step " +
                                            std::to_string(found.followed + 1) + " of the run (" +
                                            op_name(plan, witness.witness[found.followed].op,
                                                    witness.witness[found.followed].iteration) +
                                            ")"
                                      : "the ops of the run touch no byte"};
  }
  Prepared& prepared = *found.prepared;
  CheckResult result;
  describe_case(prepared, result);
  prepared.device = options.make(prepared.job);
  const std::vector<Instant> run = instants(prepared.calls, witness.witness);
  const auto race = race_of(prepared.calls, witness);
  for (std::uint64_t n = 0; n < options.runs; ++n) {
    const Orders orders{.director = Director(run, race),
                        .seed = mixed(options.seed, n, 7),
                        .timeout = options.timeout};
    add_report(prepared, prepared.device->run(orders), n, result);
  }
  result.steps = run.size();
  sort_shown(result);
  return result;
}

}  // namespace memverify::device
