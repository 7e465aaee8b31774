#include <algorithm>
#include <chrono>
#include <random>

#include "planner/gap_finder.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {

/// Moves a buffer at the peak to an earlier place in the order, and keeps what is not worse.
Placement place_hill_climb(const Problem& problem, const StrategyOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Neighbors neighbors(problem);
  std::vector<BufferIndex> order = order_by_size(problem);
  Placement now = place_in_order(problem, neighbors, order, Fit::kLowest);
  Placement best = place_in_order(problem, neighbors, order, Fit::kSmallestGap);
  if (now.peak < best.peak) best = now;
  std::mt19937_64 random(options.seed);
  std::uint64_t nodes = 0;
  const auto is_done = [&] {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    return best.peak <= problem.lower_bound || taken.count() > options.max_seconds ||
           (problem.capacity && best.peak <= *problem.capacity) ||
           (options.max_nodes != 0 && nodes >= options.max_nodes);
  };
  for (; !is_done(); ++nodes) {
    std::vector<std::size_t> at_peak;  // Positions in `order`.
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Buffer& buffer = problem.buffers[order[i]];
      if (i > 0 && !buffer.offset && now.offsets[order[i]] + buffer.bytes == now.peak) {
        at_peak.push_back(i);
      }
    }
    if (at_peak.empty()) break;  // Held up by a fixed one, or first already.
    const std::size_t from = at_peak[random() % at_peak.size()];
    const std::size_t to = random() % from;
    std::vector<BufferIndex> other = order;
    const auto at = other.begin();
    std::rotate(at + static_cast<std::ptrdiff_t>(to), at + static_cast<std::ptrdiff_t>(from),
                at + static_cast<std::ptrdiff_t>(from) + 1);
    Placement next = place_in_order(problem, neighbors, other, Fit::kLowest);
    if (next.peak > now.peak) continue;
    now = std::move(next);
    order = std::move(other);
    if (now.peak < best.peak) best = now;
  }
  best.is_optimal = best.peak <= problem.lower_bound;
  best.nodes = nodes;
  return best;
}

}  // namespace memverify
