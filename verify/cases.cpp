#include "verify/cases.h"

#include <algorithm>
#include <numeric>

namespace memverify {

SymbolCases::SymbolCases(const Plan& plan) {
  std::vector<std::uint8_t> used(plan.symbols.size(), 0);
  for (SymbolId symbol : plan.formulas.all_symbols()) used[index(symbol)] = 1;
  for (SymbolId id : ids(plan.symbols)) {
    const Symbol& symbol = plan.symbols[id];
    Axis axis{.symbol = id, .step = symbol.multiple_of};
    axis.first = least_value(symbol);
    if (symbol.max) {  // Not below `first`: the builder asks for a value. All of int64 counts 2^64.
      const std::uint64_t steps =
          (static_cast<std::uint64_t>(*symbol.max) - static_cast<std::uint64_t>(axis.first)) /
          static_cast<std::uint64_t>(axis.step);
      axis.count = std::max(steps, steps + 1);
    }
    least_.symbols.push_back(axis.first);
    if (used[index(id)]) axes_.push_back(axis);
  }
}

std::optional<std::uint64_t> SymbolCases::count() const {
  std::uint64_t product = 1;
  for (const Axis& axis : axes_) {
    if (!axis.count || *axis.count > (std::uint64_t{1} << 40)) return std::nullopt;
    product *= *axis.count;
    if (product > (std::uint64_t{1} << 40)) return std::nullopt;
  }
  return product;
}

SymbolId SymbolCases::unbounded() const {
  const auto at = std::ranges::find_if(axes_, [](const Axis& axis) { return !axis.count; });
  return at == axes_.end() ? kNone<SymbolId> : at->symbol;
}

Valuation SymbolCases::at(std::uint64_t k) const {
  Valuation valuation = least_;
  for (const Axis& axis : axes_) {
    valuation.symbols[index(axis.symbol)] = axis.value(k % *axis.count);
    k /= *axis.count;
  }
  return valuation;
}

std::vector<Valuation> SymbolCases::corners() const {
  std::vector<Valuation> result{least_};
  Valuation greatest = least_;
  for (const Axis& axis : axes_) {
    if (!axis.count) continue;
    const std::int64_t last = axis.value(*axis.count - 1);
    greatest.symbols[index(axis.symbol)] = last;
    if (last == axis.first) continue;
    result.push_back(least_);
    result.back().symbols[index(axis.symbol)] = last;
  }
  if (axes_.size() > 1) result.push_back(greatest);
  return result;
}

std::vector<SymbolValue> SymbolCases::values(const Valuation& valuation) const {
  std::vector<SymbolValue> result;
  for (const Axis& axis : axes_) {
    result.push_back({axis.symbol, valuation.symbols[index(axis.symbol)]});
  }
  return result;
}

ConditionCases::ConditionCases(const Plan& plan, std::uint32_t iterations)
    : plan_(plan), iterations_(iterations) {
  std::vector<std::uint8_t> used(plan.conditions.size(), 0);
  for (const WhenTerm& term : plan.when_terms) used[index(term.condition)] = 1;
  for (ConditionId id : ids(plan.conditions)) {
    if (!used[index(id)]) continue;
    if (plan.conditions[id].per_run || iterations == 1) {
      booleans_.push_back({id, plan.conditions[id].per_run ? -1 : 0});
      continue;
    }
    for (std::uint32_t i = 0; i < iterations; ++i) booleans_.push_back({id, i});
  }
}

ConditionCase ConditionCases::at(std::uint64_t k) const {
  ConditionCase result(plan_, iterations_);
  for (std::size_t b = 0; b < booleans_.size(); ++b) {
    const bool value = b < 64 && (k >> b & 1) != 0;
    const auto [condition, iteration] = booleans_[b];
    if (iteration >= 0) {
      result.set(condition, static_cast<std::uint32_t>(iteration), value);
      continue;
    }
    for (std::uint32_t i = 0; i < iterations_; ++i) result.set(condition, i, value);
  }
  return result;
}

std::vector<ConditionValue> ConditionCases::values(const ConditionCase& c) const {
  std::vector<ConditionValue> result;
  for (const auto& [condition, iteration] : booleans_) {
    const auto at = static_cast<std::uint32_t>(std::max<std::int64_t>(iteration, 0));
    result.push_back({condition, iteration, c.value(condition, at)});
  }
  return result;
}

std::uint32_t sample_iterations(const Plan& plan, std::uint32_t limit) {
  std::uint64_t period = 1;
  std::uint64_t reach = 1;
  for (const Storage& storage : plan.storages) {
    period = std::min<std::uint64_t>(std::lcm(period, std::uint64_t{storage.slots.size()}), limit);
  }
  for (const After& after : plan.afters) reach = std::max<std::uint64_t>(reach, after.distance);
  for (const Access& access : plan.accesses)
    reach = std::max<std::uint64_t>(reach, access.distance);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(2 * period + reach + 2, limit));
}

}  // namespace memverify
