#include "verify/certificate_cases.h"

namespace memverify::cert {
namespace {

constexpr std::uint64_t kMostCases = 1 << 16;

}  // namespace

Cases::Cases(const Plan& plan) : plan_(plan) {
  if (!plan.iterations) refused_ = "the number of iterations is unbounded";
  if (plan.iterations.value_or(1) > 50'000'000) refused_ = "there are too many iterations";
  if (refused_.empty()) iterations_ = static_cast<std::uint32_t>(plan.iterations.value_or(1));
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
    for (std::uint32_t i = 0; i < (per_run ? 1 : iterations_); ++i) {
      booleans_.push_back({id, i, per_run ? iterations_ : i + 1});
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
  values.conditions.iterations = iterations_;
  values.conditions.values.assign(plan_.conditions.size() * iterations_, 0);
  std::uint64_t bits = k % condition_cases_;
  for (const Boolean& boolean : booleans_) {
    const auto value = static_cast<std::uint8_t>(bits & 1);
    bits >>= 1;
    values.condition_values.push_back(value);
    for (std::uint32_t i = boolean.begin; i < boolean.end; ++i) {
      values.conditions.values[std::size_t{index(boolean.condition)} * iterations_ + i] = value;
    }
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
