#include "tests/support/reference.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/reference_bytes.h"
#include "tests/support/reference_explore.h"
#include "tests/support/reference_findings.h"
#include "tests/support/reference_program.h"
#include "tests/support/reference_static.h"

namespace memverify::testing {
namespace {

/// Every choice of symbol values; nullopt when there are too many.
std::optional<std::vector<Valuation>> all_valuations(const Plan& plan, std::uint64_t limit) {
  std::vector<Valuation> result{Valuation{}};
  for (const Symbol& symbol : plan.symbols) {
    if (!symbol.max) return std::nullopt;
    std::vector<Valuation> longer;
    for (const Valuation& shorter : result) {
      for (std::int64_t v = symbol.min; v <= *symbol.max; ++v) {
        if (v % symbol.multiple_of != 0) continue;
        if (longer.size() >= limit) return std::nullopt;
        longer.push_back(shorter);
        longer.back().symbols.push_back(v);
      }
    }
    result = std::move(longer);
  }
  return result;
}

/// Every choice of the values of the conditions that some op asks for.
std::optional<std::vector<ConditionValues>> all_conditions(const Plan& plan, std::uint64_t limit) {
  std::set<std::pair<ConditionId, std::int64_t>> free;
  for (const WhenTerm& term : plan.when_terms) {
    const bool per_run = plan.conditions[term.condition].per_run;
    for (std::int64_t i = 0; i < (per_run ? 1 : *plan.iterations); ++i) {
      free.insert({term.condition, i});
    }
  }
  std::vector<ConditionValues> result{ConditionValues{}};
  for (const auto& variable : free) {
    if (result.size() * 2 > limit) return std::nullopt;
    std::vector<ConditionValues> longer;
    for (ConditionValues values : result) {
      for (const bool value : {false, true}) {
        values[variable] = value;
        longer.push_back(values);
      }
    }
    result = std::move(longer);
  }
  return result;
}

/// Waits for an event that no record or signal precedes, whatever the conditions.
void unbound_waits(const Plan& plan, FindingSet& findings) {
  auto bound = [&](EventId event, OpId waiter) {
    for (const OpId id : ids(plan.ops)) {
      const Op& op = plan.ops[id];
      if (index(id) >= index(waiter) && (*plan.iterations == 1 || op.runs == Runs::kLast)) continue;
      if (index(id) >= index(waiter) && plan.ops[waiter].runs == Runs::kFirst) continue;
      if (op.runs == Runs::kLast && plan.ops[waiter].runs == Runs::kFirst && *plan.iterations > 1) {
        continue;
      }
      if (op.kind == OpKind::kRecord && op.event == event) return true;
      for (const Signal& signal : plan.signals_of(op)) {
        if (signal.event == event) return true;
      }
    }
    return false;
  };
  for (const OpId id : ids(plan.ops)) {
    const Op& op = plan.ops[id];
    bool fault = op.kind == OpKind::kWait && !bound(op.event, id);
    for (const Wait& wait : plan.waits_of(op)) {
      if (wait.kind == WaitKind::kEvent) fault = fault || !bound(wait.event, id);
    }
    if (fault) findings.add(Rule::kWarning, {id});
  }
}

EngineResult result_of(const FindingSet& findings) {
  EngineResult result;
  result.findings = findings.list();
  result.verdict = verdict_of(result.findings);
  return result;
}

EngineResult refused() {
  FindingSet findings;
  findings.add(Rule::kNotProven, {});
  return result_of(findings);
}

}  // namespace

EngineResult reference(const Plan& plan, const ReferenceLimits& limits) {
  for (const Tensor& tensor : plan.tensors) {
    if (tensor.storage == kNone<StorageId>) return refused();
  }
  if (!plan.iterations) return refused();
  const auto commands = static_cast<std::int64_t>(plan.ops.size());
  if (*plan.iterations > limits.max_commands || commands > limits.max_commands ||
      commands * *plan.iterations > limits.max_commands) {
    return refused();
  }
  const auto valuations = all_valuations(plan, limits.max_assignments);
  const auto conditions = all_conditions(plan, limits.max_assignments);
  if (!valuations || !conditions ||
      valuations->size() * conditions->size() > limits.max_assignments) {
    return refused();
  }
  FindingSet findings;
  unbound_waits(plan, findings);
  for (const Valuation& valuation : *valuations) {
    const Sizes sizes{plan, valuation, limits.max_bytes};
    reference_static_faults(sizes, findings);
    for (const ConditionValues& values : *conditions) {
      const Program program = make_program(plan, sizes, values);
      if (sizes.invalid || sizes.too_large) return refused();
      const Exploration found = explore(program, limits.max_states);
      if (!found.complete) return refused();
      findings.add(found.findings);
    }
  }
  return result_of(findings);
}

}  // namespace memverify::testing
