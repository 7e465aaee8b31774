// tools/campaign.h -- what a fuzzing campaign is, and what has come of it so far.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/fuzz_block.h"

namespace memverify {

/// Blocks k - 1, k - 1 + n, ... of a campaign, 1 <= k <= n.
struct Shard {
  std::uint64_t k = 1;
  std::uint64_t n = 1;
  bool has(std::uint64_t block) const { return block % n == k - 1; }
  bool operator==(const Shard&) const = default;
};

/// What must be the same for two results to belong together.
struct CampaignInfo {
  std::string version;  ///< Of memverify, with a fingerprint of the executable.
  std::string planner;  ///< "strategy by-size", "command ./p {in} {out}", with its version.
  std::string mode;     ///< What is done: "plans" or "mutants"; engines; sources.
  std::uint64_t seed = 1;
  std::uint64_t cases = 0;
  bool operator==(const CampaignInfo&) const = default;
};

/// The sum over blocks.
struct CampaignTotals {
  std::set<std::uint64_t> blocks;  ///< Those that are done.
  std::uint64_t cases = 0;
  std::array<std::uint64_t, kOutcomes> counts{};
  Coverage coverage;
  std::vector<FoundCase> found;                                        ///< By number.
  std::map<std::pair<std::string, std::string>, MutantCount> mutants;  ///< By kind and fate.
  std::vector<std::string> internal_errors;
  double seconds = 0;

  void add(const BlockResult& block);
  std::uint64_t findings() const;  ///< Cases with one.
};

/// Findings of one shape.
struct FoundShape {
  const FoundCase* first = nullptr;  ///< The one with the fewest ops, of these the first.
  std::uint64_t first_case = 0;
  std::uint64_t times = 0;
};
/// By fingerprint, the shape that was met first in front. The pointers are into `totals`.
std::vector<FoundShape> shapes_of(const CampaignTotals& totals);

/// For people: outcomes, findings, mutants, coverage.
std::string campaign_text(const CampaignInfo& info, const CampaignTotals& totals,
                          bool with_coverage);
/// The same as one JSON object, cases included.
std::string campaign_json(const CampaignInfo& info, const CampaignTotals& totals);
/// "1200 cases, 3 findings of 2 shapes, …"; stable.
std::string campaign_line(const CampaignTotals& totals);

/// Writes a labelled plan, its report and the graph of each shape into `folder`, which is made:
/// NAME.unsafe.json, NAME.unsafe.expected, NAME.graph.json; of a finding without a plan the graph
/// alone. NAME is the rule or kind and the fingerprint. Returns "" or what went wrong.
std::string save_cases(const CampaignInfo& info, const CampaignTotals& totals,
                       const std::string& folder);

}  // namespace memverify
