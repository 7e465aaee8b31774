#include "sim/collector.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace memverify::sim {

Collector::Key Collector::key_of(const Finding& finding) {
  Key key{static_cast<std::uint32_t>(is_race(finding.rule) ? Rule::kWar : finding.rule)};
  const bool names_tensor = finding.rule == Rule::kBoundary ||
                            (finding.rule == Rule::kUnwritten && finding.ops.empty()) ||
                            (finding.rule == Rule::kLifetime && finding.ops.size() < 2);
  if (finding.rule != Rule::kBoundary) {
    for (OpId op : finding.ops) key.push_back(index(op));
  }
  key.push_back(0xFFFFFFFFU);
  if (names_tensor && !finding.tensors.empty()) key.push_back(index(finding.tensors.front()));
  if (finding.ops.empty() && !names_tensor) {  // Placement: MV108 to MV110, and warnings.
    for (TensorId tensor : finding.tensors) key.push_back(index(tensor));
    key.push_back(0xFFFFFFFFU);
    for (StorageId storage : finding.storages) key.push_back(index(storage));
    key.push_back(index(finding.pool));
  }
  if (finding.rule == Rule::kWarning) key.push_back(index(finding.event));
  if (finding.rule == Rule::kNotProven && finding.ops.empty()) {
    key.push_back(static_cast<std::uint32_t>(std::hash<std::string>()(finding.message)));
  }
  return key;
}

bool Collector::wants(const Finding& finding) {
  const auto known = known_.find(key_of(finding));
  if (known != known_.end()) return finding.rule < findings_[known->second].rule;
  if (info(finding.rule).severity == Severity::kWarning) return true;
  if (counted_ >= max_findings_) stopped_ = true;
  return counted_ < max_findings_;
}

void Collector::add(Finding finding) {
  const Key key = key_of(finding);
  if (const auto known = known_.find(key); known != known_.end()) {
    Finding& kept = findings_[known->second];
    if (finding.rule < kept.rule) std::swap(finding, kept);
    add_rules(finding, kept);
    return;
  }
  if (!wants(finding)) return;
  known_.emplace(key, findings_.size());
  if (info(finding.rule).severity != Severity::kWarning) ++counted_;
  findings_.push_back(std::move(finding));
}

void Collector::add_rules(const Finding& from, Finding& to) {
  std::set<Rule> also(to.also.begin(), to.also.end());
  also.insert(from.also.begin(), from.also.end());
  also.insert(from.rule);
  also.erase(to.rule);
  to.also.assign(also.begin(), also.end());
}

std::vector<Finding> Collector::take() {
  std::ranges::stable_sort(findings_, {}, [](const Finding& finding) {
    return std::tie(finding.rule, finding.ops, finding.tensors);
  });
  return std::move(findings_);
}

}  // namespace memverify::sim
