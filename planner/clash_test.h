// planner/clash_test.h -- do two buffers clash?
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planner/problem.h"

namespace memverify {

/// Answers for pairs. Memory O(1) if live ranges decide, else n² bits; a query costs O(1).
class ClashTest {
 public:
  /// `problem` must outlive it.
  explicit ClashTest(const Problem& problem) : problem_(problem) {
    if (problem.live_ranges_decide) return;
    is_clash_.resize(problem.buffers.size() * problem.buffers.size());
    for (const Clash& clash : problem.clashes) {
      is_clash_[clash.first * problem.buffers.size() + clash.second] = true;
      is_clash_[clash.second * problem.buffers.size() + clash.first] = true;
    }
  }
  bool operator()(BufferIndex a, BufferIndex b) const {
    if (!problem_.live_ranges_decide) return is_clash_[a * problem_.buffers.size() + b];
    const LiveRange& x = problem_.live_ranges[a];
    const LiveRange& y = problem_.live_ranges[b];
    return std::max(x.begin, y.begin) < std::min(x.end, y.end);
  }

 private:
  const Problem& problem_;
  std::vector<bool> is_clash_;
};

}  // namespace memverify
