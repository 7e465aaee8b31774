#include "planner/core_first.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "planner/gap_finder.h"
#include "planner/optimal.h"
#include "planner/orders.h"
#include "planner/problem_parts.h"

namespace memverify {
namespace {

/// Of the heaviest load: what is live in such steps is in the core.
constexpr std::array kShares = {1.0, 0.98, 0.95, 0.9, 0.8};

class CoreFirst {
 public:
  CoreFirst(const Problem& problem, const StrategyOptions& options)
      : problem_(problem),
        options_(options),
        neighbors_(problem),
        by_size_(order_by_size(problem)) {
    options_.max_seconds /= kShares.size();
    options_.max_nodes = (options_.max_nodes + kShares.size() - 1) / kShares.size();
    find_loads();
  }

  std::optional<Placement> run() {
    std::vector<BufferIndex> last;
    for (const double share : kShares) {
      std::vector<BufferIndex> core = core_of(share);
      if (core == last) continue;
      const Problem alone = without_others(core);
      try_core(core, place_in_order(alone, Neighbors(alone), by_life(alone), Fit::kLowest));
      if (problem_.is_enough(best_->peak)) break;
      const bool is_half = 2 * core.size() > problem_.buffers.size();
      if (!is_half) try_core(core, optimal_placement(alone, options_));
      if (problem_.is_enough(best_->peak)) break;
      last = std::move(core);
    }
    if (best_) {
      best_->is_optimal = best_->peak <= problem_.lower_bound;
      best_->nodes = nodes_;
    }
    return std::move(best_);
  }

 private:
  void find_loads() {
    std::map<std::int64_t, std::int64_t> changes;
    for (BufferIndex b = 0; b < problem_.buffers.size(); ++b) {
      changes[problem_.live_ranges[b].begin] += problem_.buffers[b].bytes;
      changes[problem_.live_ranges[b].end] -= problem_.buffers[b].bytes;
    }
    std::int64_t load = 0;
    for (const auto& [step, change] : changes) {
      load += change;
      loads_.emplace_back(step, load);
      heaviest_ = std::max(heaviest_, load);
    }
  }

  /// What is live in steps of at least this share of the heaviest load, and what is fixed.
  std::vector<BufferIndex> core_of(double share) const {
    std::vector<std::int64_t> steps;
    for (const auto& [step, load] : loads_) {
      if (static_cast<double>(load) >= share * static_cast<double>(heaviest_)) {
        steps.push_back(step);
      }
    }
    std::vector<BufferIndex> core;
    for (BufferIndex b = 0; b < problem_.buffers.size(); ++b) {
      const LiveRange live = problem_.live_ranges[b];
      const auto at = std::ranges::lower_bound(steps, live.begin);
      if (problem_.buffers[b].offset || (at != steps.end() && *at < live.end)) core.push_back(b);
    }
    return core;
  }

  Problem without_others(const std::vector<BufferIndex>& core) const {
    std::vector<std::uint32_t> part_of(problem_.buffers.size(), kInNoPart);
    for (const BufferIndex b : core) part_of[b] = 0;
    Problem alone = std::move(cut_problem(problem_, part_of, 1).front().problem);
    alone.lower_bound = problem_.lower_bound;
    return alone;
  }

  static std::vector<BufferIndex> by_life(const Problem& alone) {
    std::vector<BufferIndex> order = order_by_size(alone);
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](BufferIndex b) {
      return alone.live_ranges[b].end - alone.live_ranges[b].begin;
    });
    return order;
  }

  void try_core(const std::vector<BufferIndex>& core, const Placement& alone) {
    nodes_ += alone.nodes;
    if (best_ && alone.peak >= best_->peak) return;
    GapFinder finder(problem_, neighbors_);
    for (std::size_t i = 0; i < core.size(); ++i) {
      if (!finder.is_placed(core[i])) finder.place(core[i], alone.offsets[i]);
    }
    for (const BufferIndex b : by_size_) {
      if (!finder.is_placed(b)) finder.place(b, finder.find(b, Fit::kLowest));
    }
    if (!best_ || finder.peak() < best_->peak) best_ = finder.take();
  }

  const Problem& problem_;
  StrategyOptions options_;  ///< For one core.
  const Neighbors neighbors_;
  const std::vector<BufferIndex> by_size_;
  std::vector<std::pair<std::int64_t, std::int64_t>> loads_;  ///< (First step, load), ascending.
  std::int64_t heaviest_ = 0;
  std::uint64_t nodes_ = 0;
  std::optional<Placement> best_;
};

}  // namespace

std::optional<Placement> place_core_first(const Problem& problem, const StrategyOptions& options) {
  if (problem.live_ranges.empty()) return std::nullopt;
  return CoreFirst(problem, options).run();
}

}  // namespace memverify
