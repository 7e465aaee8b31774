// tests/support/reference_findings.h -- collects findings, one for each fault.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plan/finding.h"

namespace memverify::testing {

/// Races of the same ops are one, under the lowest rule; other findings of the same rule and ops
/// (but what an alloc or free does to an output is not what it does to its storage); without ops,
/// of the same rule and tensors, storages and pool. `also` and `tensors` are merged.
class FindingSet {
 public:
  void add(const Finding& finding) {
    const bool by_ops = !finding.ops.empty();
    const bool race = finding.rule <= Rule::kWaw;
    const Key key{race ? Rule::kWar : finding.rule,
                  finding.ops,
                  by_ops ? Tensors{} : finding.tensors,
                  by_ops ? Storages{} : finding.storages,
                  by_ops ? kNone<PoolId> : finding.pool,
                  finding.rule == Rule::kLifetime && finding.tensors.empty()};
    Finding& kept = findings_.try_emplace(key, finding).first->second;
    merge(kept.tensors, finding.tensors);
    merge(kept.also, finding.also);
    if (finding.rule != kept.rule) merge(kept.also, {std::max(finding.rule, kept.rule)});
    kept.rule = std::min(kept.rule, finding.rule);
    std::erase(kept.also, kept.rule);
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
    std::ranges::stable_sort(result, {}, [](const Finding& f) { return std::pair(f.rule, f.ops); });
    return result;
  }

 private:
  using Tensors = std::vector<TensorId>;
  using Storages = std::vector<StorageId>;
  using Key = std::tuple<Rule, std::vector<OpId>, Tensors, Storages, PoolId, bool>;

  template <typename T>
  static void merge(std::vector<T>& into, const std::type_identity_t<std::vector<T>>& from) {
    into.insert(into.end(), from.begin(), from.end());
    std::ranges::sort(into);
    into.erase(std::unique(into.begin(), into.end()), into.end());
  }

  std::map<Key, Finding> findings_;
};

}  // namespace memverify::testing
