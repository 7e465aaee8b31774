// tests/support/reference_findings.h -- collects findings, one for each fault.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/finding.h"

namespace memverify::testing {

/// Findings of the same rule and ops are one; without ops, of the same rule and tensors, storages
/// and pool. What later ones add in `also` and `tensors` is merged in.
class FindingSet {
 public:
  void add(const Finding& finding) {
    const bool by_ops = !finding.ops.empty();
    const Key key{finding.rule, finding.ops, by_ops ? Tensors{} : finding.tensors,
                  by_ops ? Storages{} : finding.storages, by_ops ? kNone<PoolId> : finding.pool};
    Finding& kept = findings_.try_emplace(key, finding).first->second;
    merge(kept.also, finding.also);
    merge(kept.tensors, finding.tensors);
  }
  void add(Rule rule, std::vector<OpId> ops, std::vector<TensorId> tensors = {},
           std::vector<StorageId> storages = {}, PoolId pool = kNone<PoolId>) {
    Finding finding;
    finding.rule = rule;
    finding.ops = std::move(ops);
    finding.tensors = std::move(tensors);
    finding.storages = std::move(storages);
    finding.pool = pool;
    add(finding);
  }
  void add(const FindingSet& others) {
    for (const auto& [key, finding] : others.findings_) add(finding);
  }
  /// Sorted by rule, then ops.
  std::vector<Finding> list() const {
    std::vector<Finding> result;
    for (const auto& [key, finding] : findings_) result.push_back(finding);
    return result;
  }

 private:
  using Tensors = std::vector<TensorId>;
  using Storages = std::vector<StorageId>;
  using Key = std::tuple<Rule, std::vector<OpId>, Tensors, Storages, PoolId>;

  template <typename T>
  static void merge(std::vector<T>& into, const std::vector<T>& from) {
    into.insert(into.end(), from.begin(), from.end());
    std::ranges::sort(into);
    into.erase(std::unique(into.begin(), into.end()), into.end());
  }

  std::map<Key, Finding> findings_;
};

}  // namespace memverify::testing
