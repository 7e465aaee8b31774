#include "planner/neighbors.h"

#include <algorithm>
#include <numeric>

namespace memverify {
namespace {

bool is_live(const Problem& problem, BufferIndex b) {
  return problem.live_ranges[b].begin < problem.live_ranges[b].end && problem.buffers[b].bytes > 0;
}

}  // namespace

Neighbors::Neighbors(const Problem& problem) : begins_(problem.buffers.size() + 2, 0) {
  for (const Clash& clash : problem.clashes) {
    ++begins_[clash.first + 2];
    ++begins_[clash.second + 2];
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  entries_.resize(begins_.back());
  for (const Clash& clash : problem.clashes) {
    entries_[begins_[clash.first + 1]++] = {clash.second, clash.of_first, clash.of_second};
    entries_[begins_[clash.second + 1]++] = {clash.first, clash.of_second, clash.of_first};
  }
}

std::vector<std::size_t> clash_counts(const Problem& problem) {
  const std::size_t count = problem.buffers.size();
  std::vector<std::size_t> counts(count, 0);
  if (!problem.live_ranges_decide) {
    for (const Clash& clash : problem.clashes) {
      ++counts[clash.first];
      ++counts[clash.second];
    }
    return counts;
  }
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
  for (BufferIndex b = 0; b < count; ++b) {
    if (!is_live(problem, b)) continue;
    begins.push_back(problem.live_ranges[b].begin);
    ends.push_back(problem.live_ranges[b].end);
  }
  std::ranges::sort(begins);
  std::ranges::sort(ends);
  for (BufferIndex b = 0; b < count; ++b) {
    if (!is_live(problem, b)) continue;
    const auto begun = std::ranges::lower_bound(begins, problem.live_ranges[b].end);
    const auto ended = std::ranges::upper_bound(ends, problem.live_ranges[b].begin);
    counts[b] =
        static_cast<std::size_t>((begun - begins.begin()) - (ended - ends.begin())) - 1;  // itself
  }
  return counts;
}

std::size_t count_clashes(const Problem& problem) {
  const std::vector<std::size_t> counts = clash_counts(problem);
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0}) / 2;
}

Problem with_clashes(const Problem& problem) {
  Problem result = problem;
  if (!problem.live_ranges_decide) return result;
  result.live_ranges_decide = false;
  std::vector<BufferIndex> order;
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    if (is_live(problem, b)) order.push_back(b);
  }
  std::ranges::sort(order, {}, [&](BufferIndex b) { return problem.live_ranges[b].begin; });
  std::vector<BufferIndex> live;
  for (const BufferIndex b : order) {
    std::erase_if(live, [&](BufferIndex other) {
      return problem.live_ranges[other].end <= problem.live_ranges[b].begin;
    });
    for (const BufferIndex other : live) {
      const BufferIndex first = std::min(b, other);
      const BufferIndex second = std::max(b, other);
      result.clashes.push_back(
          {first, second, {0, problem.buffers[first].bytes}, {0, problem.buffers[second].bytes}});
    }
    live.push_back(b);
  }
  std::ranges::sort(result.clashes, {},
                    [](const Clash& clash) { return std::pair(clash.first, clash.second); });
  return result;
}

}  // namespace memverify
