#include "planner/clash_finder.h"

#include <algorithm>

namespace memverify {

ClashFinder::ClashFinder(const Problem& problem, const Neighbors& neighbors)
    : problem_(problem), neighbors_(neighbors) {
  if (!problem.live_ranges_decide) return;
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    const LiveRange live = problem.live_ranges[b];
    if (live.begin < live.end && problem.buffers[b].bytes > 0) by_begin_.push_back(b);
  }
  std::ranges::stable_sort(by_begin_, {},
                           [&](BufferIndex b) { return problem.live_ranges[b].begin; });
  for (const BufferIndex b : by_begin_) {
    begins_.push_back(problem.live_ranges[b].begin);
    ends_.push_back(problem.live_ranges[b].end);
  }
}

std::span<const BufferIndex> ClashFinder::of(BufferIndex buffer) {
  found_.clear();
  if (!problem_.live_ranges_decide) {
    for (const Neighbors::Entry& entry : neighbors_.of(buffer)) {
      if (found_.empty() || found_.back() != entry.other) found_.push_back(entry.other);
    }
    return found_;
  }
  const LiveRange live = problem_.live_ranges[buffer];
  if (live.begin >= live.end || problem_.buffers[buffer].bytes == 0) return found_;
  const auto end = std::ranges::lower_bound(begins_, live.end) - begins_.begin();
  for (std::size_t i = 0; i < static_cast<std::size_t>(end); ++i) {
    if (ends_[i] > live.begin && by_begin_[i] != buffer) found_.push_back(by_begin_[i]);
  }
  return found_;
}

}  // namespace memverify
