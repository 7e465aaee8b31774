#include "tests/support/describe_result.h"

#include <algorithm>

namespace memverify::testing {

std::string describe(const Plan& plan, const Finding& finding) {
  std::string text(info(finding.rule).id);
  for (const OpId op : finding.ops) text.append(" ").append(plan.ops[op].name);
  for (const Rule rule : finding.also) text.append(" also ").append(info(rule).id);
  for (const TensorId tensor : finding.tensors) {
    text.append(" tensor ").append(plan.tensors[tensor].name);
  }
  for (const StorageId storage : finding.storages) {
    text.append(" storage ").append(plan.storages[storage].name);
  }
  if (finding.pool != kNone<PoolId>) text.append(" pool ").append(plan.pools[finding.pool].name);
  return text;
}

std::string describe(const Plan& plan, const EngineResult& result) {
  std::string text(name(result.verdict));
  for (const Finding& finding : result.findings)
    text.append("\n  ").append(describe(plan, finding));
  return text + "\n";
}

bool refused(const EngineResult& result) {
  return result.verdict == Verdict::kUnknown &&
         std::ranges::any_of(result.findings, [](const Finding& finding) {
           return finding.rule == Rule::kNotProven && finding.ops.empty();
         });
}

}  // namespace memverify::testing
