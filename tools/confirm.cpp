#include "tools/confirm.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "plan/describe.h"
#include "plan/words.h"
#include "sim/replayer.h"
#include "verify/repair_waits.h"

namespace memverify {
namespace {

constexpr std::size_t kMostOpsToHint = 2000;

std::string failure_words(const Plan& plan, const Finding& finding, const std::string& reason) {
  std::string text = "the run of " + std::string(info(finding.rule).id);
  std::vector<std::string> names;
  for (const OpId op : finding.ops) names.push_back(quoted(plan.ops[op].name));
  if (!names.empty()) text += " (" + listed(names) + ")";
  return text + " does not replay: " + reason;
}

}  // namespace

Confirmation confirm(const Plan& plan, std::span<const Finding> findings, const Replay& replay,
                     std::uint64_t budget) {
  Confirmation result;
  std::uint64_t spent = 0;
  for (const Finding& finding : findings) {
    if (finding.witness.empty()) continue;
    ++result.witnesses;
    if (result.replayed > 0 && finding.witness.size() > budget - spent) continue;
    ++result.replayed;
    const ReplayResult outcome = replay(finding);
    spent += std::min(outcome.steps, budget - spent);
    if (!outcome.confirmed) {
      result.failures.push_back(failure_words(plan, finding, outcome.reason));
    }
  }
  return result;
}

void confirm_findings(Report& report) {
  for (Finding& finding : report.findings) describe(report.plan, finding);
  Replayer replayer(report.plan);
  const auto replay = [&](const Finding& finding) { return replayer.replay(finding); };
  Confirmation confirmed = confirm(report.plan, report.findings, replay, kReplayBudget);
  report.witnesses = confirmed.witnesses;
  report.witnesses_replayed = confirmed.replayed;
  std::ranges::move(confirmed.failures, std::back_inserter(report.internal_errors));
}

void note_one_wait(Report& report) {
  const auto errors = std::ranges::count_if(report.findings, [](const Finding& finding) {
    return info(finding.rule).severity == Severity::kError;
  });
  const bool is_asked =
      errors > 1 && !report.stopped_at_max_findings && report.plan.ops.size() <= kMostOpsToHint;
  if (!is_asked) return;
  const std::optional<AddedWait> wait = one_wait_for(report.plan, report.findings);
  if (!wait) return;
  report.one_wait =
      "one wait makes the plan safe: add " + after_json(report.plan, wait->on, wait->distance) +
      " to " + quoted(report.plan.ops[wait->waiter].name) + " (`memverify repair` has other ways)";
}

}  // namespace memverify
