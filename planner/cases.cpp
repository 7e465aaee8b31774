#include "planner/cases.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "verify/cases.h"
#include "verify/horizon.h"

namespace memverify {
namespace {

constexpr std::uint64_t kMostValuations = 512;
constexpr std::uint64_t kMostConditionCases = 256;
constexpr std::uint64_t kMostInstances = 5'000'000;
constexpr std::int64_t kMostIterations = 1000;

/// Numbers of iterations to unroll.
struct Unrolled {
  std::int64_t first = 1, last = 1;
  std::string gap;
};

Unrolled unrolled(const Plan& plan, const Layout& layout, const ConditionCase& conditions) {
  const std::int64_t all = plan.iterations.value_or(kMostIterations + 1);
  if (all == 1) return {};
  std::int64_t turn = 1;
  for (const Storage& storage : plan.storages) {
    turn =
        std::min<std::int64_t>(std::lcm(turn, std::int64_t{storage.slots.size()}), kMostIterations);
  }
  std::int64_t reach = 0;
  for (const Access& access : plan.accesses) {
    reach = std::max<std::int64_t>(reach, access.distance);
  }
  const Horizon horizon = find_horizon(plan, layout, conditions);
  const std::int64_t shows = std::int64_t{horizon.steady} + 2 * turn + reach + 1;
  if (all <= shows) return {.first = all, .last = all};
  if (!horizon.obstacle.empty()) {
    if (plan.iterations && all <= kMostIterations) return {.first = all, .last = all};
    return {.gap = horizon.obstacle};
  }
  if (shows > kMostIterations) return {.gap = "too many iterations are needed to show everything"};
  if (!plan.iterations) return {.first = 1, .last = shows + turn};
  const std::int64_t stand_in = shows + (all - shows) % turn;  // The same slots at the end.
  return {.first = stand_in, .last = stand_in};
}

bool conditions_may_change(const Plan& plan) {
  return std::ranges::any_of(plan.when_terms, [&](const WhenTerm& term) {
    return !plan.conditions[term.condition].per_run;
  });
}

class CaseVisitor {
 public:
  CaseVisitor(const Plan& plan, const std::function<void(const Program&)>& visit, bool few_values)
      : plan_(plan), visit_(visit), few_values_(few_values) {}

  std::string run() {
    if (!few_values_ && has_many_valuations(plan_)) gap_ = "the symbols have too many values";
    for (const Valuation& valuation : size_valuations(plan_)) {
      const Result<Layout> layout = Layout::make(plan_, valuation);
      if (!layout.ok()) return layout.errors().front().message;
      visit_layout(layout.value());
    }
    return gap_;
  }

 private:
  void visit_layout(const Layout& layout) {
    const Unrolled runs = unrolled(plan_, layout, ConditionCase(plan_, 1));
    if (!runs.gap.empty()) gap_ = runs.gap;
    const bool changing = runs.last > 1 && conditions_may_change(plan_);
    const ConditionCases conditions(plan_, changing ? static_cast<std::uint32_t>(runs.last) : 1);
    const std::uint64_t booleans = conditions.booleans();
    if (booleans >= 63 || (std::uint64_t{1} << booleans) > kMostConditionCases) {
      gap_ = "the conditions have too many values";
      return;
    }
    for (std::uint64_t k = 0; k < std::uint64_t{1} << booleans; ++k) {
      for (std::int64_t n = runs.first; n <= runs.last; ++n) {
        instances_ += static_cast<std::uint64_t>(n) * plan_.ops.size();
        if (instances_ > kMostInstances) {
          gap_ = "there are too many cases";
          return;
        }
        visit_(make_program(plan_, layout, conditions.at(k), static_cast<std::uint32_t>(n)));
      }
    }
  }

  const Plan& plan_;
  const std::function<void(const Program&)>& visit_;
  const bool few_values_;
  std::uint64_t instances_ = 0;
  std::string gap_;
};

}  // namespace

std::string for_each_case(const Plan& plan, const std::function<void(const Program&)>& visit,
                          bool few_values) {
  return CaseVisitor(plan, visit, few_values).run();
}

bool has_many_valuations(const Plan& plan) {
  const std::optional<std::uint64_t> count = SymbolCases(plan).count();
  return !count || *count > kMostValuations;
}

std::vector<Valuation> size_valuations(const Plan& plan) {
  const SymbolCases symbols(plan);
  if (has_many_valuations(plan)) return symbols.corners();
  std::vector<Valuation> all;
  for (std::uint64_t k = 0; k < *symbols.count(); ++k) all.push_back(symbols.at(k));
  return all;
}

}  // namespace memverify
