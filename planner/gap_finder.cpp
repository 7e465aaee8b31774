#include "planner/gap_finder.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "planner/align.h"

namespace memverify {

GapFinder::GapFinder(const Problem& problem, const Neighbors& neighbors)
    : problem_(problem), neighbors_(neighbors), is_placed_(problem.buffers.size(), 0) {
  placement_.offsets.assign(problem.buffers.size(), 0);
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.offset || buffer.bytes == 0) place(b, buffer.offset.value_or(0));
  }
}

void GapFinder::gather_barriers(BufferIndex buffer) {
  const std::int64_t bytes = problem_.buffers[buffer].bytes;
  barriers_.clear();
  if (problem_.live_ranges_decide) {
    const LiveRange live = problem_.live_ranges[buffer];
    if (live.begin >= live.end) return;
    for (const Block& block : blocks_) {
      if (block.live.begin < live.end && live.begin < block.live.end) {
        barriers_.push_back({block.begin - bytes, block.end});
      }
    }
    return;
  }
  for (const Neighbors::Entry& entry : neighbors_.of(buffer)) {
    if (is_placed_[entry.other] == 0) continue;
    const std::int64_t at = placement_.offsets[entry.other];
    barriers_.push_back(
        {at + entry.theirs.begin - entry.mine.end, at + entry.theirs.end - entry.mine.begin});
  }
  std::ranges::sort(barriers_, {}, &Barrier::after);
}

std::int64_t GapFinder::find(BufferIndex buffer, Fit fit) {
  const std::int64_t alignment = problem_.buffers[buffer].alignment;
  gather_barriers(buffer);
  std::int64_t candidate = 0;
  std::int64_t best = -1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Barrier& barrier : barriers_) {
    if (candidate <= barrier.after) {
      if (fit == Fit::kLowest) return candidate;
      if (barrier.after - candidate < least) {
        least = barrier.after - candidate;
        best = candidate;
      }
    }
    if (barrier.before > candidate) candidate = aligned_up(barrier.before, alignment);
  }
  return best >= 0 ? best : candidate;
}

void GapFinder::place(BufferIndex buffer, std::int64_t offset) {
  assert(!is_placed(buffer));
  is_placed_[buffer] = 1;
  placement_.offsets[buffer] = offset;
  const std::int64_t bytes = problem_.buffers[buffer].bytes;
  if (bytes == 0) return;
  placement_.peak = std::max(placement_.peak, offset + bytes);
  if (!problem_.live_ranges_decide) return;
  const LiveRange live = problem_.live_ranges[buffer];
  if (live.begin >= live.end) return;
  const auto at = std::ranges::upper_bound(blocks_, offset, {}, &Block::begin);
  blocks_.insert(at, {offset, offset + bytes, live});
}

Placement GapFinder::take() {
  assert(std::ranges::count(is_placed_, 0) == 0);
  return std::move(placement_);
}

Placement place_in_order(const Problem& problem, const Neighbors& neighbors,
                         std::span<const BufferIndex> order, Fit fit) {
  GapFinder finder(problem, neighbors);
  for (const BufferIndex b : order) {
    if (!finder.is_placed(b)) finder.place(b, finder.find(b, fit));
  }
  return finder.take();
}

}  // namespace memverify
