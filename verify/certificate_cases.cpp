#include "verify/certificate_cases.h"

#include <algorithm>
#include <numeric>

#include "plan/words.h"

namespace memverify::cert {
namespace {

constexpr std::uint64_t kMostCases = 1 << 16;
constexpr std::int64_t kMostIterations = 1 << 16;
constexpr std::int64_t kMostInstances = 50'000'000;

/// "" or what may differ from one iteration to the next.
std::string what_differs(const Plan& plan) {
  const bool unordered = std::ranges::any_of(
      plan.queues, [](const Queue& queue) { return queue.order == QueueOrder::kNone; });
  for (const Op& op : plan.ops) {
    if (op.runs == Runs::kLast) return quoted(op.name) + " runs last";
    if (op.runs == Runs::kFirst && unordered) {
      return quoted(op.name) + " runs first, and not all queues order their commands";
    }
    for (const WhenTerm& term : plan.when_of(op)) {
      const Condition& condition = plan.conditions[term.condition];
      if (!condition.per_run) return "condition " + quoted(condition.name) + " may change";
    }
    for (const Wait& wait : plan.waits_of(op)) {
      if (wait.kind != WaitKind::kSemaphore) continue;
      return quoted(op.name) + " waits for semaphore " +
             quoted(plan.semaphores[wait.semaphore].name);
    }
  }
  return "";
}

/// After as many iterations all slots come round together; 0 if those are too many.
std::int64_t turn(const Plan& plan) {
  std::int64_t all = 1;
  for (const Storage& storage : plan.storages) {
    all = std::lcm(all, std::int64_t{storage.slots.size()});
    if (all > kMostIterations) return 0;
  }
  return all;
}

}  // namespace

void Cases::choose_lengths() {
  const std::int64_t most =
      kMostInstances / std::max<std::int64_t>(static_cast<std::int64_t>(plan_.ops.size()), 1);
  if (plan_.iterations == 1 && most >= 1) {  // No other number stands for one.
    lengths_.push_back(1);
    return;
  }
  const std::string differs = what_differs(plan_);
  const std::int64_t phases = differs.empty() ? turn(plan_) : 0;
  std::int64_t reach = 0;
  for (const Access& access : plan_.accesses) {
    reach = std::max<std::int64_t>(reach, access.distance);
  }
  const std::int64_t shows = 2 * phases + reach + 2;  // docs/certificate.md, "Loops".
  if (plan_.iterations) {
    std::int64_t n = *plan_.iterations;
    if (phases > 0 && n - shows > phases) n = shows + (n - shows) % phases;
    if (n <= most) lengths_.push_back(static_cast<std::uint32_t>(n));
  } else if (!differs.empty()) {
    refused_ = "the number of iterations is unbounded, and " + differs;
  } else if (phases > 0 && shows <= kMostIterations && shows * (shows + 1) / 2 <= most) {
    lengths_.resize(static_cast<std::size_t>(shows));
    std::iota(lengths_.begin(), lengths_.end(), 1U);
  }
  if (lengths_.empty() && refused_.empty()) refused_ = "there are too many iterations";
}

Cases::Cases(const Plan& plan) : plan_(plan) {
  choose_lengths();
  std::vector<std::uint8_t> used(plan.symbols.size(), 0);
  for (SymbolId symbol : plan.formulas.all_symbols()) used[index(symbol)] = 1;
  for (SymbolId id : ids(plan.symbols)) {
    const Symbol& symbol = plan.symbols[id];
    const std::int64_t rest = symbol.min % symbol.multiple_of;
    const std::int64_t first = symbol.min + (rest > 0 ? symbol.multiple_of - rest : -rest);
    least_.symbols.push_back(first);
    if (used[index(id)] == 0) continue;
    if (!symbol.max) {
      refused_ = "symbol `" + std::string(symbol.name) + "` has no \"max\"";
      continue;
    }
    const std::uint64_t steps =
        (static_cast<std::uint64_t>(*symbol.max) - static_cast<std::uint64_t>(first)) /
        static_cast<std::uint64_t>(symbol.multiple_of);
    if (steps < kMostCases) {
      axes_.push_back({id, first, symbol.multiple_of, steps + 1});
      symbol_cases_ *= steps + 1;
    }
    if (steps >= kMostCases || symbol_cases_ > kMostCases) {
      refused_ = "the symbols have too many values";
      symbol_cases_ = 0;
    }
  }
  std::vector<std::uint8_t> asked(plan.conditions.size(), 0);
  for (const WhenTerm& term : plan.when_terms) asked[index(term.condition)] = 1;
  for (ConditionId id : ids(plan.conditions)) {
    if (asked[index(id)] == 0 || !refused_.empty()) continue;
    const bool per_run = plan.conditions[id].per_run;
    for (std::uint32_t i = 0; i < (per_run ? 1 : lengths_.back()); ++i) {
      booleans_.push_back({id, i, per_run});
      condition_cases_ *= 2;
      if (condition_cases_ * symbol_cases_ <= kMostCases) continue;
      refused_ = "the conditions have too many values";
      break;
    }
  }
  if (!refused_.empty()) symbol_cases_ = 0;
}

CaseValues Cases::at(std::uint64_t k) const {
  CaseValues values{.valuation = least_};
  const std::uint32_t iterations = lengths_[k / (symbol_cases_ * condition_cases_)];
  values.conditions.iterations = iterations;
  values.conditions.values.assign(plan_.conditions.size() * iterations, 0);
  std::uint64_t bits = k % condition_cases_;
  for (const Boolean& boolean : booleans_) {
    const auto value = static_cast<std::uint8_t>(bits & 1);
    bits >>= 1;
    values.condition_values.push_back(value);
    const auto of_it = values.conditions.values.begin() +
                       static_cast<std::ptrdiff_t>(index(boolean.condition)) * iterations;
    std::fill(of_it + boolean.iteration,
              of_it + (boolean.per_run ? iterations : boolean.iteration + 1), value);
  }
  k /= condition_cases_;
  for (const Axis& axis : axes_) {
    const auto step = static_cast<std::int64_t>(k % axis.count);
    const std::int64_t value = axis.first + axis.step * step;
    k /= axis.count;
    values.valuation.symbols[index(axis.symbol)] = value;
    values.symbol_values.push_back(value);
  }
  return values;
}

}  // namespace memverify::cert
