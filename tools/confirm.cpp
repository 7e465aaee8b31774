#include "tools/confirm.h"

#include "plan/words.h"

namespace memverify {
namespace {

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
    const std::uint64_t cost = finding.witness.size() + plan.ops.size();
    if (result.replayed > 0 && cost > budget - spent) continue;
    spent += std::min(cost, budget - spent);
    ++result.replayed;
    const ReplayResult outcome = replay(plan, finding);
    if (!outcome.confirmed) {
      result.failures.push_back(failure_words(plan, finding, outcome.reason));
    }
  }
  return result;
}

}  // namespace memverify
