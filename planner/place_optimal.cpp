#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "planner/align.h"
#include "planner/direction_search.h"
#include "planner/gap_finder.h"
#include "planner/optimal.h"
#include "planner/orders.h"
#include "planner/problem_parts.h"
#include "planner/stack.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

using Clock = std::chrono::steady_clock;

// Beyond these a search gets nowhere, or takes too much memory.
constexpr std::size_t kMostSearched = 8'000'000;  // Clashes.
constexpr std::size_t kMostNodes = 8'000;         // Buffers, where live ranges do not decide.
constexpr std::size_t kMostInParts = 20'000;      // Clashes of parts.

/// What one order finds hard, another may find at once.
constexpr std::array<OrderKeys, 3> kOrders = {{
    {OrderKey::kWidth, OrderKey::kArea, OrderKey::kCrowd},
    {OrderKey::kCrowd, OrderKey::kArea, OrderKey::kWidth},
    {OrderKey::kCrowd, OrderKey::kWidth, OrderKey::kArea},
}};

/// Where buffers clash as a whole.
class WholeSearch {
 public:
  WholeSearch(const SearchGraph& graph, OffsetSearchSwitches switches)
      : graph_(graph), search_(graph, switches) {}
  Fits search(std::int64_t target, const OrderKeys& order, std::uint64_t max_nodes,
              const std::function<bool()>& is_late) {
    return search_.search(target, order, max_nodes, is_late);
  }
  void copy_offsets(std::vector<std::int64_t>& offsets) const {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      offsets[graph_.buffers[n]] = search_.offsets()[n];
    }
  }
  std::uint64_t nodes() const { return search_.nodes(); }

 private:
  const SearchGraph& graph_;
  OffsetSearch search_;
};

/// Where parts of them do. Has no use for orders.
class PartSearch {
 public:
  explicit PartSearch(const Problem& problem) : search_(problem) {}
  Fits search(std::int64_t target, const OrderKeys&, std::uint64_t max_nodes,
              const std::function<bool()>& is_late) {
    return search_.search(target, max_nodes, is_late);
  }
  void copy_offsets(std::vector<std::int64_t>& offsets) const {
    offsets.assign(search_.offsets().begin(), search_.offsets().end());
  }
  std::uint64_t nodes() const { return search_.nodes(); }

 private:
  DirectionSearch search_;
};

template <typename Search>
class OptimalSearch {
 public:
  OptimalSearch(const Problem& problem, Search search, const StrategyOptions& options)
      : problem_(problem),
        options_(options),
        search_(std::move(search)),
        grain_(grain_of(problem)) {}

  Placement improve(Placement start) {
    best_ = std::move(start);
    is_late_ = [this] {
      return std::chrono::duration<double>(Clock::now() - begin_).count() > options_.max_seconds;
    };
    lowest_ = aligned_up(problem_.lower_bound, grain_);
    for (std::uint64_t limit = 2 * problem_.buffers.size(); !is_done(); limit *= 2) {
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
  bool is_done() const {
    return best_.peak <= lowest_ || problem_.is_enough(best_.peak) || is_late_() ||
           (options_.max_nodes != 0 && search_.nodes() >= options_.max_nodes);
  }

  /// The capacity if that is still to reach, and nothing else if it is enough. Then the bound,
  /// which is often reached, then just below the best.
  void try_targets(const OrderKeys& order, std::uint64_t limit) {
    const std::int64_t capacity = problem_.capacity.value_or(best_.peak);
    if (lowest_ <= capacity && capacity < best_.peak) {
      try_target(std::min(capacity, best_.peak - grain_), order, limit);
      if (problem_.capacity_is_enough || is_done()) return;
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
    search_.copy_offsets(best_.offsets);
    best_.peak = peak_of(problem_, best_.offsets);
  }

  const Problem& problem_;
  const StrategyOptions& options_;
  Search search_;
  const std::int64_t grain_;
  const Clock::time_point begin_ = Clock::now();
  std::function<bool()> is_late_;
  std::int64_t lowest_ = 0;  ///< No placement is lower.
  Placement best_;
};

/// A problem in one part.
Placement connected_placement(const Problem& problem, const StrategyOptions& options,
                              OffsetSearchSwitches switches) {
  Placement best = best_list_placement(problem);
  best.is_optimal = best.peak <= problem.lower_bound;
  if (problem.is_enough(best.peak)) return best;
  const bool is_interval = is_interval_problem(problem);
  const bool is_small =
      is_interval ? count_clashes(problem) <= kMostSearched : problem.buffers.size() <= kMostNodes;
  if (!is_small) return best;
  if (const std::optional<SearchGraph> graph = search_graph(problem)) {
    return OptimalSearch(problem, WholeSearch(*graph, switches), options).improve(std::move(best));
  }
  if (problem.clashes.size() > kMostInParts) return best;
  return OptimalSearch(problem, PartSearch(problem), options).improve(std::move(best));
}

/// What is left of the time and the nodes, for one of `parts`.
StrategyOptions share(const StrategyOptions& options, Clock::time_point begin, std::uint64_t nodes,
                      std::size_t parts) {
  StrategyOptions one = options;
  const double gone = std::chrono::duration<double>(Clock::now() - begin).count();
  one.max_seconds = std::max(options.max_seconds - gone, 0.0) / static_cast<double>(parts);
  if (options.max_nodes != 0) {
    one.max_nodes = std::max<std::uint64_t>(options.max_nodes, nodes + 1) - nodes;
  }
  return one;
}

/// Each part alone; those after the first need not be lower than the highest before.
Placement placement_by_parts(const Problem& problem, std::vector<ProblemPart> parts,
                             const StrategyOptions& options, OffsetSearchSwitches switches) {
  const Clock::time_point begin = Clock::now();
  Placement all;
  all.offsets.assign(problem.buffers.size(), 0);
  std::int64_t enough = problem.lower_bound;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ProblemPart& part = parts[i];
    part.problem.capacity = problem.capacity;
    part.problem.capacity_is_enough = problem.capacity_is_enough;
    // No bound of this part: rounded down, for up would be a claim.
    part.problem.lower_bound = enough / grain_of(part.problem) * grain_of(part.problem);
    const Placement placed = connected_placement(
        part.problem, share(options, begin, all.nodes, parts.size() - i), switches);
    for (BufferIndex b = 0; b < part.buffers.size(); ++b) {
      all.offsets[part.buffers[b]] = placed.offsets[b];
    }
    all.nodes += placed.nodes;
    all.peak = std::max(all.peak, placed.peak);
    if (placed.peak <= enough) continue;
    enough = placed.peak;
    all.is_optimal = placed.is_optimal;  // By itself: the bound that it was given is lower.
  }
  all.is_optimal = all.is_optimal || all.peak <= aligned_up(problem.lower_bound, grain_of(problem));
  return all;
}

}  // namespace

Placement best_list_placement(const Problem& problem) {
  const Neighbors neighbors(problem);
  std::optional<Placement> best;
  const auto consider = [&](const std::vector<BufferIndex>& order, Fit fit) {
    Placement other = place_in_order(problem, neighbors, order, fit);
    if (!best || other.peak < best->peak) best = std::move(other);
  };
  for (const auto order : {order_by_size, order_by_first_use}) {
    const std::vector<BufferIndex> buffers = order(problem);
    consider(buffers, Fit::kSmallestGap);
    consider(buffers, Fit::kLowest);
  }
  for (const auto order : {order_by_last_use, order_by_conflicts}) {
    consider(order(problem), Fit::kLowest);
  }
  return *std::move(best);
}

Placement optimal_placement(const Problem& problem, const StrategyOptions& options,
                            OffsetSearchSwitches switches) {
  if (problem.live_ranges_decide) return connected_placement(problem, options, switches);
  std::vector<ProblemPart> parts = parts_of(problem);
  if (parts.size() <= 1) return connected_placement(problem, options, switches);
  return placement_by_parts(problem, std::move(parts), options, switches);
}

Placement place_optimal(const Problem& problem, const StrategyOptions& options) {
  return optimal_placement(problem, options);
}

}  // namespace memverify
