#include "planner/orders.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "planner/neighbors.h"

namespace memverify {
namespace {

template <typename Key>
std::vector<BufferIndex> ordered_by(const Problem& problem, Key key) {
  std::vector<BufferIndex> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), BufferIndex{0});
  std::ranges::stable_sort(order, {}, key);
  return order;
}

LiveRange live_range(const Problem& problem, BufferIndex b) {
  return problem.live_ranges.empty() ? LiveRange{} : problem.live_ranges[b];
}

}  // namespace

std::vector<BufferIndex> order_by_first_use(const Problem& problem) {
  return ordered_by(problem, [&](BufferIndex b) {
    const LiveRange live = live_range(problem, b);
    return std::array{live.begin, live.end};
  });
}

std::vector<BufferIndex> order_by_last_use(const Problem& problem) {
  return ordered_by(problem, [&](BufferIndex b) {
    const LiveRange live = live_range(problem, b);
    return std::array{live.end, live.begin};
  });
}

std::vector<BufferIndex> order_by_size(const Problem& problem) {
  return ordered_by(problem, [&](BufferIndex b) {
    const LiveRange live = live_range(problem, b);
    return std::array{-problem.buffers[b].bytes, live.begin};
  });
}

std::vector<BufferIndex> order_by_conflicts(const Problem& problem) {
  const std::vector<std::size_t> counts = clash_counts(problem);
  return ordered_by(problem, [&](BufferIndex b) {
    return std::array{-static_cast<std::int64_t>(counts[b]), -problem.buffers[b].bytes};
  });
}

}  // namespace memverify
