#include "cuda_check/prepared.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "cuda_check/lower.h"
#include "cuda_check/scale.h"

namespace memverify::device {
namespace {

bool is_same(const Finding& a, const Finding& b) {
  return a.rule == b.rule && is_about_the_same(a, b);
}

bool is_value_fault(Rule rule) { return rule == Rule::kWrongVersion || rule == Rule::kBoundary; }

bool on_the_same_bytes(const Finding& a, const Finding& b) {
  return a.pool == b.pool && a.bytes.begin < b.bytes.end && b.bytes.begin < a.bytes.end;
}

/// The findings of one run. On bytes where a pair races, values are nobody's ([S-52]).
std::vector<std::pair<Finding, Mismatch>> findings_of(Prepared& prepared, const RunReport& report) {
  std::vector<std::pair<Finding, Mismatch>> all;
  for (const Mismatch& whole : report.mismatches) {
    for (const Mismatch& mismatch : prepared.blame->split(whole)) {
      for (Finding& finding : prepared.blame->findings(mismatch)) {
        const bool is_known =
            std::ranges::any_of(all, [&](const auto& one) { return is_same(one.first, finding); });
        if (!is_known) all.emplace_back(std::move(finding), mismatch);
      }
    }
  }
  std::vector<Finding> races;
  for (const auto& [finding, mismatch] : all) {
    if (is_race(finding.rule)) races.push_back(finding);
  }
  std::erase_if(all, [&](const auto& one) {
    return is_value_fault(one.first.rule) && std::ranges::any_of(races, [&](const Finding& race) {
             return on_the_same_bytes(race, one.first);
           });
  });
  return all;
}

void show(Finding finding, std::string seen, std::uint64_t number, CheckResult& result) {
  const auto old = std::ranges::find_if(
      result.shown, [&](const Shown& shown) { return is_same(shown.finding, finding); });
  if (old != result.shown.end()) {
    ++old->runs;
  } else {
    result.shown.push_back({std::move(finding), std::move(seen), number, 1});
  }
}

/// The conditions of the run, as a finding tells them.
std::vector<ConditionValue> conditions_of(const Plan& plan, const Settled& settled) {
  std::vector<ConditionValue> all;
  for (const ConditionId c : ids(plan.conditions)) {
    if (plan.conditions[c].per_run) {
      all.push_back({c, -1, settled.conditions.get(c, 0)});
      continue;
    }
    for (std::int64_t i = 0; i < settled.unrolled; ++i) {
      all.push_back({c, i, settled.conditions.get(c, i)});
    }
  }
  return all;
}

}  // namespace

Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const Settled& settled,
                                          const CheckOptions& options) {
  Result<Layout> layout = Layout::make(plan, settled.symbols);
  if (!layout.ok()) return layout.errors();
  auto prepared = std::make_unique<Prepared>(plan, settled, std::move(layout).value());
  Result<Calls> calls = lower(plan, settled);
  if (!calls.ok()) return calls.errors();
  prepared->calls = std::move(calls).value();
  Result<Work> work = make_work(plan, prepared->layout, settled, prepared->calls);
  if (!work.ok()) return work.errors();
  prepared->work = std::move(work).value();
  prepared->unscaled_bytes = pool_bytes(prepared->work);
  if (options.scale_bytes) scale(prepared->work, *options.scale_bytes);
  prepared->blame = std::make_unique<Blame>(prepared->job);
  return prepared;
}

void add_report(Prepared& prepared, const RunReport& report, std::uint64_t number,
                CheckResult& result) {
  const Plan& plan = prepared.job.plan;
  const std::vector<ConditionValue> when = conditions_of(plan, prepared.settled);
  prepared.blame->look_at(report);
  ++result.runs;
  if (report.finished && report.mismatches.empty()) ++result.clean;
  for (auto& [finding, mismatch] : findings_of(prepared, report)) {
    finding.when = when;
    show(std::move(finding), prepared.blame->sentence(mismatch), number, result);
  }
  if (!report.finished) {
    Finding finding = prepared.blame->deadlock(report);
    finding.when = when;
    show(std::move(finding), "the run cannot go on", number, result);
    if (result.waiting.empty()) result.waiting = report.waiting;
  } else if (result.checksums.empty()) {
    result.checksums = report.checksums;
  }
  result.steps_done = report.steps_done;
}

void describe_case(const Prepared& prepared, CheckResult& result) {
  result.settled = prepared.settled;
  result.bytes = pool_bytes(prepared.work);
  result.unscaled_bytes = prepared.unscaled_bytes;
  result.unchecked_reads = prepared.work.unchecked_reads;
  result.streams = prepared.calls.streams.size();
  result.commands = prepared.calls.commands.size();
}

void sort_shown(CheckResult& result) {
  std::ranges::stable_sort(result.shown, [](const Shown& a, const Shown& b) {
    return std::tie(a.finding.rule, a.finding.ops, a.finding.tensors) <
           std::tie(b.finding.rule, b.finding.ops, b.finding.tensors);
  });
}

}  // namespace memverify::device
