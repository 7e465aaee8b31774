#include "verify/symbol_merge.h"

#include <algorithm>
#include <utility>

#include "verify/findings.h"

namespace memverify {
namespace {

/// MV301 of a pool: a claimed peak that no value of the symbols needs.
bool is_unused_claim(const Finding& finding) {
  return finding.rule == Rule::kWarning && finding.ops.empty() && finding.tensors.empty() &&
         finding.pool != kNone<PoolId>;
}

/// The rules that clash, of both.
std::vector<Rule> ways(const Finding& a, const Finding& b) {
  std::vector<Rule> all = a.also;
  all.insert(all.end(), b.also.begin(), b.also.end());
  all.push_back(a.rule);
  all.push_back(b.rule);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

MergedFindings::Key MergedFindings::key_of(const Finding& f) {
  if (is_race(f.rule)) return {Rule::kWar, f.ops, 0, 0, ""};
  const bool by_tensor = f.rule == Rule::kBoundary || f.ops.empty();
  if (!by_tensor && f.rule == Rule::kDeadlock) return {f.rule, {f.ops.front()}, 0, 0, ""};
  if (!by_tensor) return {f.rule, f.ops, 0, 0, ""};
  if (!f.tensors.empty()) return {f.rule, {}, 1, index(f.tensors.front()), ""};
  if (!f.storages.empty()) return {f.rule, {}, 2, index(f.storages.front()), ""};
  if (f.pool != kNone<PoolId>) return {f.rule, {}, 3, index(f.pool), ""};
  return {f.rule, {}, 4, 0, f.message};
}

void MergedFindings::add(EngineResult result, std::size_t number) {
  ++results_;
  stats_.ops += result.stats.ops;
  stats_.pairs_checked += result.stats.pairs_checked;
  stopped_ = stopped_ || result.stopped_at_max_findings;
  for (Finding& finding : result.findings) {
    const bool error = info(finding.rule).severity == Severity::kError;
    const Key key = key_of(finding);
    const auto at = kept_.find(key);
    if (at == kept_.end()) {
      if (error && full()) {
        stopped_ = true;
        continue;
      }
      errors_ += error ? 1 : 0;
      kept_[key] = {std::move(finding), {number}};
      continue;
    }
    Kept& kept = at->second;
    if (kept.results.back() != number) kept.results.push_back(number);
    if (!is_race(finding.rule)) continue;
    std::vector<Rule> all = ways(kept.finding, finding);
    if (finding.rule < kept.finding.rule) kept.finding = std::move(finding);
    kept.finding.also.assign(all.begin() + 1, all.end());
  }
}

void MergedFindings::add_not_proven(std::string message, std::string help) {
  Finding finding;
  finding.message = std::move(message);
  finding.help = std::move(help);
  kept_[key_of(finding)] = {std::move(finding), {}};
}

EngineResult MergedFindings::take() {
  EngineResult result;
  for (auto& [key, kept] : kept_) {
    if (is_unused_claim(kept.finding) && kept.results.size() != results_) continue;
    result.findings.push_back(std::move(kept.finding));
  }
  finish(result, limit_, stopped_);
  result.stats = stats_;
  return result;
}

}  // namespace memverify
