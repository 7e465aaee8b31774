#include <algorithm>
#include <cstdint>

#include "planner/blocks.h"
#include "planner/neighbors.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

using Bits = std::vector<std::uint64_t>;

void set_bit(Bits& bits, std::size_t i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); }

/// For each buffer the steps in which it is live, counted by begins of live ranges: two that
/// intersect have the later begin in common.
std::vector<Bits> activity_bits(const Problem& problem) {
  std::vector<std::int64_t> steps;
  for (const LiveRange& range : problem.live_ranges) steps.push_back(range.begin);
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::vector<Bits> rows;
  for (const LiveRange& range : problem.live_ranges) {
    Bits bits(steps.size() / 64 + 1, 0);
    const auto first = std::ranges::lower_bound(steps, range.begin) - steps.begin();
    const auto last = std::ranges::lower_bound(steps, range.end) - steps.begin();
    for (auto i = first; i < last; ++i) set_bit(bits, static_cast<std::size_t>(i));
    rows.push_back(std::move(bits));
  }
  return rows;
}

bool intersect(const Bits& a, const Bits& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] & b[i]) != 0) return true;
  }
  return false;
}

}  // namespace

/// The largest first, into the first block in which nothing is active at the same time. Each block
/// has one bit set: the steps in use, or without such steps the buffers that clash with one in it.
Placement place_bitset(const Problem& problem, const StrategyOptions&) {
  const bool has_steps = problem.live_ranges_decide;
  const std::vector<Bits> activity = has_steps ? activity_bits(problem) : std::vector<Bits>();
  const Neighbors neighbors(problem);
  std::vector<SharedBlock> blocks;
  std::vector<Bits> used;  // By block.
  for (const BufferIndex b : order_by_size(problem)) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.offset || buffer.bytes == 0) continue;
    std::size_t i = 0;
    const auto is_free = [&](const Bits& bits) {
      return has_steps ? !intersect(activity[b], bits) : (bits[b / 64] >> (b % 64) & 1) == 0;
    };
    while (i < blocks.size() && !is_free(used[i])) ++i;
    if (i == blocks.size()) {
      blocks.push_back({buffer.bytes, {}});
      used.emplace_back(has_steps ? activity[b].size() : problem.buffers.size() / 64 + 1, 0);
    }
    blocks[i].buffers.push_back(b);
    for (std::size_t w = 0; has_steps && w < used[i].size(); ++w) used[i][w] |= activity[b][w];
    for (const Neighbors::Entry& entry : neighbors.of(b)) set_bit(used[i], entry.other);
  }
  return stack_blocks(problem, blocks);
}

}  // namespace memverify
