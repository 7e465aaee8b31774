#include "cuda_check/check.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cuda_check/prepared.h"

namespace memverify::device {
namespace {

Settled first_case(const Plan& plan, const CheckOptions& options) {
  Settled settled = settle(plan, options.iterations.value_or(default_iterations(plan)));
  for (const SymbolValue& given : options.symbols) {
    settled.symbols.symbols[index(given.symbol)] = given.value;
  }
  return settled;
}

/// The conditions of a run: those that are given, the others drawn.
Conditions draw_conditions(const Plan& plan, const Settled& settled, const CheckOptions& options,
                           std::uint64_t run) {
  Conditions values = settled.conditions;
  for (const ConditionId c : ids(plan.conditions)) {
    const std::int64_t count = plan.conditions[c].per_run ? 1 : settled.unrolled;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t who = (std::uint64_t{index(c)} << 32) + static_cast<std::uint64_t>(i);
      values.set(c, i, (mixed(options.seed, ~run, who) & 1U) != 0);
    }
  }
  for (const ConditionValue& given : options.when) {
    const bool all = given.iteration < 0 && !plan.conditions[given.condition].per_run;
    const std::int64_t begin = all ? 0 : std::max<std::int64_t>(given.iteration, 0);
    const std::int64_t end = all ? settled.unrolled : std::min(begin + 1, settled.unrolled);
    for (std::int64_t i = begin; i < end; ++i) values.set(given.condition, i, given.value);
  }
  return values;
}

}  // namespace

Result<CheckResult> check(const Plan& plan, const CheckOptions& options) {
  constexpr std::size_t kMostPrepared = 16;
  CheckResult result;
  Settled settled = first_case(plan, options);
  std::map<Conditions, std::unique_ptr<Prepared>> cases;
  for (std::uint64_t run = 0; run < options.runs; ++run) {
    settled.conditions = draw_conditions(plan, settled, options, run);
    auto found = cases.find(settled.conditions);
    if (found == cases.end()) {
      if (cases.size() == kMostPrepared) cases.clear();
      auto prepared = prepare(plan, settled, options);
      if (!prepared.ok()) return prepared.errors();
      found = cases.emplace(settled.conditions, std::move(prepared).value()).first;
      found->second->device = options.make(found->second->job);
      if (run == 0) describe_case(*found->second, result);
    }
    Prepared& prepared = *found->second;
    const Orders orders{.delays = draw_delays(plan, prepared.calls, options.delays, options.seed,
                                              run, options.longest),
                        .seed = mixed(options.seed, run, 7),
                        .timeout = options.timeout};
    add_report(prepared, prepared.device->run(orders), run, result);
  }
  sort_shown(result);
  return result;
}

Result<std::int64_t> bytes_needed(const Plan& plan, const CheckOptions& options) {
  auto prepared = prepare(plan, first_case(plan, options), options);
  if (!prepared.ok()) return prepared.errors();
  return pool_bytes(prepared.value()->work);
}

bool is_about_the_same(const Finding& a, const Finding& b) {
  const auto first = [](const Finding& finding) {
    return finding.tensors.empty() ? kNone<TensorId> : finding.tensors.front();
  };
  if (a.rule == Rule::kBoundary && b.rule == Rule::kBoundary) return first(a) == first(b);
  return a.ops == b.ops && (!a.ops.empty() || first(a) == first(b));
}

bool shows(const CheckResult& result, const Finding& finding) {
  return std::ranges::any_of(result.shown, [&](const Shown& shown) {
    const bool is_rule = shown.finding.rule == finding.rule ||
                         std::ranges::find(finding.also, shown.finding.rule) != finding.also.end();
    if (!is_rule) return false;
    if (finding.rule == Rule::kDeadlock) return true;
    return is_about_the_same(shown.finding, finding);
  });
}

}  // namespace memverify::device
