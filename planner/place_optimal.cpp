#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "planner/gap_finder.h"
#include "planner/optimal.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSearched = 8'000'000;  // Clashes; beyond, a search gets nowhere.

/// What one order finds hard, another may find at once.
constexpr std::array<OrderKeys, 3> kOrders = {{
    {OrderKey::kWidth, OrderKey::kArea, OrderKey::kCrowd},
    {OrderKey::kCrowd, OrderKey::kArea, OrderKey::kWidth},
    {OrderKey::kCrowd, OrderKey::kWidth, OrderKey::kArea},
}};

Placement best_list_placement(const Problem& problem) {
  const Neighbors neighbors(problem);
  Placement best = place_in_order(problem, neighbors, order_by_size(problem), Fit::kSmallestGap);
  for (const auto order : {order_by_size, order_by_first_use, order_by_conflicts}) {
    Placement other = place_in_order(problem, neighbors, order(problem), Fit::kLowest);
    if (other.peak < best.peak) best = std::move(other);
  }
  return best;
}

/// All peaks are multiples of this.
std::int64_t grain_of(const Problem& problem) {
  std::int64_t grain = 0;
  for (const Buffer& buffer : problem.buffers) {
    grain = std::gcd(grain, buffer.bytes);
    if (buffer.offset) grain = std::gcd(grain, *buffer.offset);
    if (!buffer.offset && buffer.alignment > 1) grain = std::gcd(grain, buffer.alignment);
  }
  return std::max<std::int64_t>(grain, 1);
}

class OptimalSearch {
 public:
  OptimalSearch(const Problem& problem, const SearchGraph& graph, const StrategyOptions& options,
                OffsetSearchSwitches switches)
      : problem_(problem),
        graph_(graph),
        options_(options),
        search_(graph, switches),
        grain_(grain_of(problem)) {}

  Placement improve(Placement start) {
    best_ = std::move(start);
    is_late_ = [this] {
      return std::chrono::duration<double>(Clock::now() - begin_).count() > options_.max_seconds;
    };
    lowest_ = aligned_up(problem_.lower_bound);
    for (std::uint64_t limit = 2 * graph_.nodes.size(); !is_done(); limit *= 2) {
      for (const OrderKeys& order : kOrders) {
        try_targets(order, limit);
        if (is_done()) break;
      }
    }
    best_.is_optimal = best_.peak <= lowest_;
    best_.nodes = search_.nodes();
    return std::move(best_);
  }

 private:
  std::int64_t aligned_up(std::int64_t value) const {
    return (value + grain_ - 1) / grain_ * grain_;
  }

  bool fits_capacity() const { return problem_.capacity && best_.peak <= *problem_.capacity; }

  bool is_done() const {
    return best_.peak <= lowest_ || fits_capacity() || is_late_() ||
           (options_.max_nodes != 0 && search_.nodes() >= options_.max_nodes);
  }

  /// The capacity if that is still to reach; otherwise the bound, which is often reached, then
  /// just below the best.
  void try_targets(const OrderKeys& order, std::uint64_t limit) {
    const std::int64_t below = best_.peak - grain_;
    if (problem_.capacity && *problem_.capacity >= lowest_) {
      try_target(std::min(*problem_.capacity, below), order, limit);
      return;
    }
    try_target(lowest_, order, limit);
    if (is_done()) return;
    try_target(lowest_ + (best_.peak - lowest_) / 2 / grain_ * grain_, order, limit);
    if (!is_done()) try_target(best_.peak - grain_, order, limit);
  }

  void try_target(std::int64_t target, const OrderKeys& order, std::uint64_t limit) {
    if (options_.max_nodes != 0) {
      limit = std::min(limit, options_.max_nodes - std::min(options_.max_nodes, search_.nodes()));
    }
    const Fits fits = search_.search(target, order, limit, is_late_);
    if (fits == Fits::kNo) lowest_ = std::max(lowest_, target + grain_);
    if (fits != Fits::kYes) return;
    best_.peak = 0;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      best_.offsets[graph_.buffers[n]] = search_.offsets()[n];
      best_.peak = std::max(best_.peak, search_.offsets()[n] + graph_.nodes[n].bytes);
    }
  }

  const Problem& problem_;
  const SearchGraph& graph_;
  const StrategyOptions& options_;
  OffsetSearch search_;
  const std::int64_t grain_;
  const Clock::time_point begin_ = Clock::now();
  std::function<bool()> is_late_;
  std::int64_t lowest_ = 0;  ///< No placement is lower.
  Placement best_;
};

}  // namespace

Placement optimal_placement(const Problem& problem, const StrategyOptions& options,
                            OffsetSearchSwitches switches) {
  Placement best = best_list_placement(problem);
  best.is_optimal = best.peak <= problem.lower_bound;
  const bool is_small = !problem.live_ranges_decide || count_clashes(problem) <= kMostSearched;
  if (best.is_optimal || !is_small) return best;
  if (problem.capacity && best.peak <= *problem.capacity) return best;
  const std::optional<SearchGraph> graph = search_graph(problem);
  if (!graph) return best;
  return OptimalSearch(problem, *graph, options, switches).improve(std::move(best));
}

Placement place_optimal(const Problem& problem, const StrategyOptions& options) {
  return optimal_placement(problem, options);
}

}  // namespace memverify
