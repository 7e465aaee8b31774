// tools/fuzz_block.h -- the unit of a campaign: a hundred cases that depend on nothing before them.
//
// Problem: a campaign should be cut into shards, interrupted and joined without a difference, and
//   yet go where it has not been.
// Idea: cases come in blocks. What a block does depends on the seed and its number alone; coverage
//   steers within it, and starts with combinations that are drawn for each block. So blocks may run
//   anywhere and in any order, and their results add up.
// Tested by tests/unit/tools/fuzz_block_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/fuzz_features.h"
#include "tools/fuzz_minimal.h"
#include "tools/fuzz_target.h"

namespace memverify {

inline constexpr std::uint64_t kCasesInBlock = 100;

/// A finding, and how often the block met its like.
struct FoundCase {
  std::uint64_t number = 0;  ///< Of the case, from 0.
  std::string families;      ///< Where its graph is from.
  CaseResult result;
  std::uint64_t times = 1;  ///< Cases of the block with the same signature.
  MinimalCase minimal;      ///< Of the first of them.
};

/// Where mutants of plans go (`--mutate plans`).
struct MutantCount {
  std::string kind;   ///< "remove wait".
  std::string fate;   ///< "killed MV101", "undecided", or for an equivalent one why it is.
  std::string first;  ///< The first, in words.
  std::uint64_t times = 0;
};

struct BlockResult {
  std::uint64_t block = 0;
  std::uint64_t cases = 0;
  std::array<std::uint64_t, kOutcomes> counts{};
  Coverage coverage;
  std::vector<FoundCase> found;
  std::vector<MutantCount> mutants;  ///< Sorted by kind, then fate.
  std::vector<std::string> internal_errors;
  double seconds = 0;  ///< Of wall time.
};

struct BlockOptions {
  std::uint64_t seed = 1;
  std::uint64_t cases = 100;  ///< Of the campaign.
  bool mutates_plans = false;
  bool shrinks = true;
  std::uint64_t max_findings = 0;  ///< The block ends with the case that reaches it; 0: no limit.
  const std::vector<Plan>* sources = nullptr;  ///< Graphs to start from in every other case.
  const std::vector<std::string>* source_names = nullptr;
};

inline std::uint64_t blocks_of(std::uint64_t cases) {
  return (cases + kCasesInBlock - 1) / kCasesInBlock;
}

/// Runs block `block`. `after_case` is called after each.
BlockResult run_block(std::uint64_t block, const BlockOptions& options, FuzzTarget& target,
                      const EngineChoice& engines, const std::function<void()>& after_case);

}  // namespace memverify
