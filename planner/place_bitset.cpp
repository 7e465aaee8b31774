#include <algorithm>
#include <cstdint>

#include "planner/align.h"
#include "planner/neighbors.h"
#include "planner/orders.h"
#include "planner/stack.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

/// Words of bits, those outside `[first, first + words.size())` zero.
struct Bits {
  std::size_t first = 0;
  std::vector<std::uint64_t> words;

  void set(std::size_t bit) { words[bit / 64 - first] |= std::uint64_t{1} << (bit % 64); }
  bool meets(const Bits& other) const {
    const std::size_t begin = std::max(first, other.first);
    const std::size_t end = std::min(first + words.size(), other.first + other.words.size());
    for (std::size_t i = begin; i < end; ++i) {
      if ((words[i - first] & other.words[i - other.first]) != 0) return true;
    }
    return false;
  }
};

/// For each buffer the steps in which it is active, counted by begins of live ranges: two that
/// intersect have the later begin in common.
std::vector<Bits> steps_of(const Problem& problem) {
  std::vector<std::int64_t> steps;
  for (const LiveRange& range : problem.live_ranges) steps.push_back(range.begin);
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::vector<Bits> rows(problem.buffers.size());
  for (BufferIndex b = 0; b < rows.size(); ++b) {
    const LiveRange& range = problem.live_ranges[b];
    if (range.begin >= range.end) continue;
    const auto step = [&](std::int64_t at) {
      return static_cast<std::size_t>(std::ranges::lower_bound(steps, at) - steps.begin());
    };
    rows[b].first = step(range.begin) / 64;
    rows[b].words.resize((step(range.end) - 1) / 64 - rows[b].first + 1, 0);
    for (std::size_t i = step(range.begin); i < step(range.end); ++i) rows[b].set(i);
  }
  return rows;
}

/// By steps where one order of them decides, otherwise by the clashes themselves, as bits too; what
/// clashes in part then counts as clashing.
class Activity {
 public:
  explicit Activity(const Problem& problem)
      : has_steps_(problem.live_ranges_decide), neighbors_(problem) {
    if (has_steps_) steps_ = steps_of(problem);
    clashes_with_.resize(has_steps_ ? 0 : problem.buffers.size() / 64 + 1);
  }

  /// The buffer that `may_share` is about from now on.
  void choose(BufferIndex b) {
    chosen_ = b;
    if (has_steps_) return;
    std::ranges::fill(clashes_with_, 0);
    for (const Neighbors::Entry& entry : neighbors_.of(b)) {
      clashes_with_[entry.other / 64] |= std::uint64_t{1} << (entry.other % 64);
    }
  }
  bool may_share(BufferIndex other) const {
    if (has_steps_) return !steps_[chosen_].meets(steps_[other]);
    return (clashes_with_[other / 64] >> (other % 64) & 1) == 0;
  }

 private:
  const bool has_steps_;
  const Neighbors neighbors_;
  BufferIndex chosen_ = 0;
  std::vector<Bits> steps_;                  ///< By buffer.
  std::vector<std::uint64_t> clashes_with_;  ///< Bits by buffer, of the chosen one.
};

}  // namespace

/// The largest first, at the lowest offset where every buffer in the way is inactive in all steps
/// in which this one is active: an exact test of bit sets, pair by pair. Cost O(n²) pairs.
Placement place_bitset(const Problem& problem, const StrategyOptions&) {
  Activity activity(problem);
  std::vector<BufferIndex> placed;  // In ascending order of offset.
  Placement placement;
  placement.offsets.assign(problem.buffers.size(), 0);
  const auto offset_of = [&](BufferIndex b) { return placement.offsets[b]; };
  const auto place = [&](BufferIndex b, std::int64_t offset) {
    placement.offsets[b] = offset;
    if (problem.buffers[b].bytes == 0) return;
    placed.insert(std::ranges::upper_bound(placed, offset, {}, offset_of), b);
  };
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    if (problem.buffers[b].offset) place(b, *problem.buffers[b].offset);
  }
  for (const BufferIndex b : order_by_size(problem)) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.offset || buffer.bytes == 0) continue;
    activity.choose(b);
    std::int64_t offset = 0;
    for (const BufferIndex other : placed) {
      const std::int64_t begin = placement.offsets[other];
      const std::int64_t end = begin + problem.buffers[other].bytes;
      if (end <= offset || activity.may_share(other)) continue;
      if (begin >= offset + buffer.bytes) break;
      offset = aligned_up(end, buffer.alignment);
    }
    place(b, offset);
  }
  placement.peak = peak_of(problem, placement.offsets);
  return placement;
}

}  // namespace memverify
