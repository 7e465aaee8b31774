#include "sim/cases.h"

#include <algorithm>
#include <optional>

#include "plan/words.h"

namespace memverify::sim {
namespace {

constexpr std::int64_t kMostIterations = 1'000'000;
constexpr std::int64_t kTriedWithoutMax = 3;  ///< Values of a symbol that has no bound.

/// `a * b`, at most `limit` + 1.
std::uint64_t product(std::uint64_t a, std::uint64_t b, std::uint64_t limit) {
  if (b != 0 && a > limit / b) return limit + 1;
  return a * b;
}

}  // namespace

Cases::Cases(const Plan& plan, const SimOptions& options) : plan_(plan) {
  iterations_ = plan.iterations.value_or(options.unbounded_iterations);
  if (!plan.iterations) {
    left_out_ = "the number of iterations has no bound: only the first " +
                std::to_string(iterations_) + " were looked at";
  }
  if (iterations_ > kMostIterations) {
    left_out_ = "it has " + std::to_string(iterations_) + " iterations, more than " +
                std::to_string(kMostIterations);
    valuations_ = 0;
    return;
  }
  list_symbols(options);
  list_conditions(options);
  bound(options.max_cases);
}

void Cases::list_symbols(const SimOptions& options) {
  values_.resize(plan_.symbols.size());
  for (SymbolId id : ids(plan_.symbols)) {
    std::vector<std::int64_t>& values = values_[index(id)];
    const auto given = std::ranges::find(options.symbols, id, &SymbolValue::symbol);
    const Symbol& symbol = plan_.symbols[id];
    const std::int64_t first = least_value(symbol);
    const std::int64_t step = symbol.multiple_of;
    if (given != options.symbols.end()) {
      values = {given->value};
      if (first != given->value || !symbol.max || *symbol.max - first >= step) {
        left_out_ = "only one value of symbol " + quoted(symbol.name) + " was asked for";
      }
      continue;
    }
    std::int64_t count = kTriedWithoutMax;
    if (symbol.max) {
      count = *symbol.max < first ? 0 : (*symbol.max - first) / step + 1;
    } else {
      left_out_ = "symbol " + quoted(symbol.name) + " has no `max`";
    }
    if (count == 0) {
      left_out_ = "symbol " + quoted(symbol.name) + " has no value";
      values = {first};
      continue;
    }
    if (static_cast<std::uint64_t>(count) > options.max_cases) {
      left_out_ = "symbol " + quoted(symbol.name) + " has " + std::to_string(count) +
                  " values: only the least and the greatest were looked at";
      values = {first, first + (count - 1) * step};
      continue;
    }
    for (std::int64_t k = 0; k < count; ++k) values.push_back(first + k * step);
  }
}

void Cases::list_conditions(const SimOptions& options) {
  given_ = ConditionValues(plan_, iterations_);
  std::vector<bool> used(plan_.conditions.size(), false);
  for (const WhenTerm& term : plan_.when_terms) used[index(term.condition)] = true;
  for (ConditionId id : ids(plan_.conditions)) {
    if (!used[index(id)]) continue;
    const std::int64_t end = plan_.conditions[id].per_run ? 1 : iterations_;
    for (std::int64_t i = 0; i < end; ++i) {
      const auto given = std::ranges::find_if(options.when, [&](const ConditionValue& value) {
        return value.condition == id && (value.iteration < 0 || value.iteration == i);
      });
      if (given != options.when.end()) {
        given_.set(id, i, given->value);
        left_out_ =
            "only one value of condition " + quoted(plan_.conditions[id].name) + " was asked for";
      } else {
        open_.emplace_back(id, i);
      }
    }
  }
}

void Cases::bound(std::uint64_t max_cases) {
  const auto count = [&] {
    valuations_ = 1;
    for (const auto& values : values_) valuations_ = product(valuations_, values.size(), max_cases);
    return product(valuations_, assignments_, max_cases);
  };
  assignments_ = open_.size() < 63 ? std::uint64_t{1} << open_.size() : max_cases + 1;
  if (count() <= max_cases) return;
  if (left_out_.empty()) {
    left_out_ = "there are more than " + std::to_string(max_cases) +
                " combinations of symbols and conditions: only extreme ones were looked at";
  }
  for (auto& values : values_) {
    if (values.size() > 2) values = {values.front(), values.back()};
  }
  if (count() <= max_cases) return;
  together_ = true;
  assignments_ = std::min<std::uint64_t>(2, max_cases);
  if (count() <= max_cases) return;
  for (auto& values : values_) {
    if (!values.empty()) values.erase(values.begin() + 1, values.end());
  }
  assignments_ = 1;
  count();
}

Valuation Cases::valuation(std::uint64_t number) const {
  Valuation valuation;
  for (const auto& values : values_) {
    valuation.symbols.push_back(values[number % values.size()]);
    number /= values.size();
  }
  return valuation;
}

Case Cases::settled(std::uint64_t valuation_number, std::uint64_t assignment) const {
  Case settled{.symbols = valuation(valuation_number),
               .iterations = iterations_,
               .unrolled = iterations_,
               .conditions = given_};
  for (std::size_t k = 0; k < open_.size(); ++k) {
    const bool value = together_ ? assignment != 0 : (assignment >> k & 1U) != 0;
    settled.conditions.set(open_[k].first, open_[k].second, value);
  }
  return settled;
}

std::vector<ConditionValue> conditions_of(const Plan& plan, const Case& settled) {
  std::vector<ConditionValue> when;
  for (ConditionId c : ids(plan.conditions)) {
    const bool per_run = plan.conditions[c].per_run;
    for (std::int64_t i = 0; i < (per_run ? 1 : settled.unrolled); ++i) {
      when.push_back({c, per_run ? -1 : i, settled.conditions.get(c, i)});
    }
  }
  return when;
}

std::vector<SymbolValue> symbols_of(const Plan& plan, const Case& settled) {
  std::vector<SymbolValue> symbols;
  for (SymbolId s : ids(plan.symbols)) {
    symbols.push_back({s, settled.symbols.symbols[index(s)]});
  }
  return symbols;
}

}  // namespace memverify::sim
