#include "cuda_check/settled.h"

#include <algorithm>

namespace memverify::device {

Conditions::Conditions(const Plan& plan, std::int64_t iterations) {
  for (const Condition& condition : plan.conditions) {
    values_.emplace_back(condition.per_run ? 1U : static_cast<std::size_t>(iterations));
  }
}

std::int64_t greatest_value(const Symbol& symbol) {
  const std::int64_t least = least_value(symbol);
  if (!symbol.max || *symbol.max <= least) return least;
  return least + (*symbol.max - least) / symbol.multiple_of * symbol.multiple_of;
}

std::int64_t default_iterations(const Plan& plan) {
  std::int64_t wanted = 4;
  for (const Storage& storage : plan.storages) {
    wanted = std::max(wanted, 2 * std::int64_t{storage.slots.size()});
  }
  if (plan.iterations) wanted = *plan.iterations;
  const auto ops = std::max<std::int64_t>(1, static_cast<std::int64_t>(plan.ops.size()));
  return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, kMaxCommands / ops));
}

Settled settle(const Plan& plan, std::int64_t iterations) {
  Settled settled{.iterations = iterations, .unrolled = iterations};
  for (const Symbol& symbol : plan.symbols) {
    settled.symbols.symbols.push_back(greatest_value(symbol));
  }
  settled.conditions = Conditions(plan, iterations);
  return settled;
}

bool holds(const Plan& plan, const Settled& settled, OpId op, std::int64_t iteration) {
  return std::ranges::all_of(plan.when_of(plan.ops[op]), [&](const WhenTerm& term) {
    return settled.conditions.get(term.condition, iteration) == term.value;
  });
}

bool is_dropped(const Plan& plan, const Settled& settled, OpId op, std::int64_t iteration) {
  const Op& what = plan.ops[op];
  if (what.kind == OpKind::kView) return true;
  if (what.runs == Runs::kFirst && iteration != 0) return true;
  if (what.runs == Runs::kLast && iteration != settled.iterations - 1) return true;
  return !what.skipped_pass && !holds(plan, settled, op, iteration);
}

}  // namespace memverify::device
