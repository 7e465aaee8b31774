#include "planner/plan_graph.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "planner/align.h"
#include "planner/graph_clashes.h"
#include "planner/in_place.h"
#include "planner/placed_plan.h"
#include "planner/pool_limits.h"
#include "planner/pool_problem.h"

namespace memverify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr BufferIndex kNoBuffer = 0xFFFFFFFFU;

class GraphPlanner {
 public:
  GraphPlanner(const Plan& graph, const ApartPlan& apart, const PlanGraphOptions& options)
      : graph_(graph), apart_(apart), options_(options) {}

  PlannedGraph run() {
    limits_ = pool_limits(graph_, apart_);
    for (const PoolId pool : ids(graph_.pools)) restrict_capacity(pool);
    choose_pools();
    if (options_.bounds) {
      PoolBounder bounder(apart_, pool_of_);
      clashes_ = find_graph_clashes(apart_, [&](const GraphCase& at) { bounder.look(at); });
      bounds_ = std::move(bounder).bounds(clashes_);
    } else {
      clashes_ = find_graph_clashes(apart_);
      bounds_.resize(graph_.pools.size());
    }
    if (options_.wrong_clashes != nullptr) clashes_ = options_.wrong_clashes(apart_, clashes_);
    for (const PoolId pool : ids(graph_.pools)) {
      outcomes_.push_back(place_pool(pool, graph_.pools.size() - index(pool)));
    }
    if (spill() && options_.bounds) bounds_ = pool_bounds(apart_, pool_of_);
    return result();
  }

 private:
  std::optional<std::int64_t> available(PoolId pool) const {
    return index(pool) < options_.available.size() ? options_.available[index(pool)] : std::nullopt;
  }

  void restrict_capacity(PoolId pool) {
    std::optional<std::int64_t>& capacity = limits_.capacity[index(pool)];
    for (const std::optional<std::int64_t>& limit : {options_.capacity, available(pool)}) {
      if (limit) capacity = std::min(capacity.value_or(*limit), *limit);
    }
  }

  std::vector<PoolId> pools_for(TensorId root) const {
    const auto own = Plan::slice(graph_.pool_lists, graph_.tensors[root].pools);
    if (!own.empty()) return {own.begin(), own.end()};
    if (!options_.pools.empty()) return options_.pools;
    std::vector<PoolId> all;
    for (const PoolId pool : ids(graph_.pools)) all.push_back(pool);
    return all;
  }

  void choose_pools() {
    for (const GraphBuffer& buffer : apart_.buffers) {
      pool_of_.push_back(pools_for(buffer.root).front());
    }
    offset_of_.assign(apart_.buffers.size(), 0);
  }

  std::int64_t alignment_of(BufferIndex b) const {
    return std::lcm(limits_.alignment[index(apart_.buffers[b].root)],
                    graph_.pools[pool_of_[b]].alignment);
  }

  bool in_problem(BufferIndex b, PoolId pool) const {
    return pool_of_[b] == pool && clashes_.permanent[b] == 0;
  }

  bool can_spill() const {
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (next_pool(b) != kNone<PoolId>) return true;
    }
    return false;
  }

  /// What is left of the time, for the first of `parts` equal parts of the work.
  StrategyOptions share(std::size_t parts) const {
    StrategyOptions options = options_.strategy;
    const std::chrono::duration<double> gone = Clock::now() - begin_;
    options.max_seconds =
        std::max(options.max_seconds - gone.count(), 0.0) / static_cast<double>(parts);
    return options;
  }

  /// Takes the first of `parts` equal parts of the time that is left.
  PoolOutcome place_pool(PoolId pool, std::size_t parts) {
    PoolOutcome outcome{.pool = pool,
                        .capacity = limits_.capacity[index(pool)],
                        .fixed = limits_.fixed_bytes[index(pool)]};
    std::int64_t kept = 0;
    std::int64_t permanent = 0;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != pool) continue;
      outcome.total += apart_.buffers[b].bytes;
      if (in_problem(b, pool) || apart_.buffers[b].bytes == 0) continue;
      kept = aligned_up(kept, alignment_of(b)) + apart_.buffers[b].bytes;
      permanent += apart_.buffers[b].bytes;
    }
    std::optional<std::int64_t> room = outcome.capacity;
    if (room) room = std::max<std::int64_t>(*room - kept, 0);
    const std::int64_t bound = std::max<std::int64_t>(bounds_[index(pool)].bytes - permanent, 0);
    place_best(pool, room, bound, can_spill() ? parts + 1 : parts, outcome);
    const bool exact = stack_permanent(pool);
    outcome.is_optimal = outcome.is_optimal && exact;
    outcome.peak = limits_.fixed_end[index(pool)];
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != pool || apart_.buffers[b].bytes == 0) continue;
      outcome.peak = std::max(outcome.peak, offset_of_[b] + apart_.buffers[b].bytes);
    }
    return outcome;
  }

  /// True iff some op may write in place here, if not in a way that the search makes use of.
  bool may_pair(PoolId pool) const {
    std::vector<std::uint8_t> here(graph_.tensors.size(), 0);  // By root.
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (in_problem(b, pool)) here[index(apart_.buffers[b].root)] = 1;
    }
    return std::ranges::any_of(graph_.in_places, [&](const InPlace& pair) {
      return here[index(graph_.tensors[pair.read].root)] != 0 &&
             here[index(graph_.tensors[pair.written].root)] != 0;
    });
  }

  /// With the in-place pairs together, or all apart, whichever needs less.
  void place_best(PoolId pool, std::optional<std::int64_t> room, std::int64_t bound,
                  std::size_t parts, PoolOutcome& outcome) {
    std::vector<std::int64_t> bytes;
    std::vector<std::int64_t> alignments;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      bytes.push_back(apart_.buffers[b].bytes);
      alignments.push_back(in_problem(b, pool) ? alignment_of(b) : 0);
    }
    const bool pairs = std::ranges::any_of(clashes_.handoffs, [&](const Handoff& handoff) {
      const auto [first, second, of_first, of_second] = handoff.clash;
      return first < bytes.size() && second < bytes.size() && alignments[first] != 0 &&
             alignments[second] != 0;
    });
    std::int64_t best = -1;
    for (const bool together : {true, false}) {
      if (together && (!pairs || !clashes_.gap.empty())) continue;
      const Groups groups =
          together ? in_place_groups(clashes_, bytes, alignments) : no_groups(bytes.size());
      PoolProblem made = pool_problem(apart_, clashes_, pool, groups, alignments);
      made.problem.capacity = room;
      made.problem.lower_bound = bound;
      if (made.problem.buffers.empty()) continue;
      const Placement placement = options_.place(made.problem, share(together ? 2 * parts : parts));
      if (best >= 0 && placement.peak >= best) continue;
      best = placement.peak;
      const bool exact = !may_pair(pool) && clashes_.gap.empty() && !clashes_.whole;
      outcome.is_optimal = placement.is_optimal && exact;
      outcome.allocator = placement.allocator;
      for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
        if (!in_problem(b, pool)) continue;
        offset_of_[b] = placement.offsets[made.place_in[groups.group_of[b]]] + groups.offset_in[b];
      }
      if (best <= bound) return;
    }
  }

  /// True iff nobody ever touches it.
  bool is_idle(BufferIndex b) const { return clashes_.gap.empty() && clashes_.used[b] == 0; }

  /// What clashes with everything goes on top of the rest, or below it if alignment makes that
  /// lower. True iff nothing could be lower, given the rest: sizes leave no gaps, and all is used.
  bool stack_permanent(PoolId pool) {
    std::vector<BufferIndex> kept;
    std::vector<BufferIndex> rest;
    std::int64_t peak = 0;
    std::int64_t own = 1;  // Alignment of the rest,
    std::int64_t all = 1;  // … and of everything.
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != pool) continue;
      const bool is_kept = !in_problem(b, pool);
      if (apart_.buffers[b].bytes == 0 || (!is_kept && is_idle(b))) {
        offset_of_[b] = 0;
        continue;
      }
      (is_kept ? kept : rest).push_back(b);
      if (!is_kept) peak = std::max(peak, offset_of_[b] + apart_.buffers[b].bytes);
      if (!is_kept) own = std::lcm(own, alignment_of(b));
      all = std::lcm(all, alignment_of(b));
    }
    if (kept.empty()) return true;
    std::ranges::stable_sort(kept, std::greater(), [&](BufferIndex b) { return alignment_of(b); });
    const auto stack = [&](std::int64_t next) {
      for (const BufferIndex b : kept) {
        offset_of_[b] = aligned_up(next, alignment_of(b));
        next = offset_of_[b] + apart_.buffers[b].bytes;
      }
      return next;
    };
    const std::int64_t base = aligned_up(stack(0), own);
    if (stack(peak) > base + peak) {
      stack(0);
      for (const BufferIndex b : rest) offset_of_[b] += base;
    }
    rest.insert(rest.end(), kept.begin(), kept.end());
    return std::ranges::all_of(rest, [&](BufferIndex b) {
      const std::int64_t bytes = apart_.buffers[b].bytes;
      return bytes % all == 0 && (clashes_.permanent[b] != 0 || clashes_.used[b] == bytes);
    });
  }

  /// Moves tensors that may go elsewhere out of pools that are too full. True iff any moved.
  bool spill() {
    bool spilled = false;
    for (std::size_t rounds = 0; rounds <= apart_.buffers.size(); ++rounds) {
      const auto full =
          std::ranges::find_if(outcomes_, [](const PoolOutcome& o) { return !o.fits(); });
      bool moved = false;
      std::vector<std::uint8_t> changed(graph_.pools.size(), 0);
      for (auto at = full; at != outcomes_.end(); ++at) {
        if (at->fits()) continue;
        const PoolId pool = at->pool;
        const PoolId to = move_one(pool, at->peak - *at->capacity);
        if (to == kNone<PoolId>) continue;
        moved = true;
        changed[index(pool)] = changed[index(to)] = 1;
        break;
      }
      if (!moved) return spilled;
      spilled = true;
      for (const PoolId pool : ids(graph_.pools)) {
        if (changed[index(pool)] == 0) continue;
        bounds_[index(pool)] = {};
        outcomes_[index(pool)] = place_pool(pool, 2);
      }
    }
    return spilled;
  }

  /// Moves the tensor that frees enough with the least, or the largest one, to the pool that comes
  /// next in its list. Returns that pool.
  PoolId move_one(PoolId pool, std::int64_t excess) {
    BufferIndex best = kNoBuffer;
    const auto bytes = [&](BufferIndex b) { return apart_.buffers[b].bytes; };
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != pool || next_pool(b) == kNone<PoolId> || bytes(b) == 0) continue;
      const bool better = best == kNoBuffer ||
                          (bytes(b) >= excess ? bytes(best) < excess || bytes(b) < bytes(best)
                                              : bytes(best) < excess && bytes(b) > bytes(best));
      if (better) best = b;
    }
    if (best == kNoBuffer) return kNone<PoolId>;
    const PoolId to = next_pool(best);
    const TensorId root = apart_.buffers[best].root;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (apart_.buffers[b].root == root) pool_of_[b] = to;
    }
    return to;
  }

  PoolId next_pool(BufferIndex b) const {
    const std::vector<PoolId> pools = pools_for(apart_.buffers[b].root);
    const auto at = std::ranges::find(pools, pool_of_[b]);
    return at == pools.end() || at + 1 == pools.end() ? kNone<PoolId> : *(at + 1);
  }

  /// What ends highest of all that is not permanent; kNoBuffer: nothing.
  BufferIndex highest_movable(PoolId pool) const {
    BufferIndex top = kNoBuffer;
    const auto end = [&](BufferIndex b) { return offset_of_[b] + apart_.buffers[b].bytes; };
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (!in_problem(b, pool) || apart_.buffers[b].bytes == 0) continue;
      if (top == kNoBuffer || end(b) >= end(top)) top = b;
    }
    return top;
  }

  /// What is permanent is there whatever is at the peak.
  void find_at_peak(PoolOutcome& outcome) const {
    const BufferIndex top = highest_movable(outcome.pool);
    std::vector<std::uint8_t> meets(apart_.buffers.size() + clashes_.fixed.size(), 0);
    const auto note = [&](const Clash& clash) {
      if (clash.first == top) meets[clash.second] = 1;
      if (clash.second == top) meets[clash.first] = 1;
    };
    for (const Clash& clash : clashes_.clashes) note(clash);
    for (const Handoff& handoff : clashes_.handoffs) note(handoff.clash);
    if (top != kNoBuffer) meets[top] = 1;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != outcome.pool || apart_.buffers[b].bytes == 0) continue;
      if (meets[b] != 0 || clashes_.permanent[b] != 0) outcome.at_peak.push_back(b);
    }
    std::ranges::stable_sort(outcome.at_peak, std::greater(), [&](BufferIndex b) {
      return offset_of_[b] + apart_.buffers[b].bytes;
    });
  }

  PlannedGraph result() {
    PlannedGraph planned{.buffers = apart_.buffers, .pool_of = pool_of_, .gap = clashes_.gap};
    std::vector<Place> places;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      GraphBuffer& buffer = planned.buffers[b];
      buffer.address = offset_of_[b];
      if (buffer.slot == 0) {
        places.push_back({.root = buffer.root,
                          .pool = pool_of_[b],
                          .bytes = buffer.bytes,
                          .element_0 = buffer.element_0});
      }
      places.back().slots.push_back(buffer.address);
    }
    planned.plan = with_places(graph_, places);
    for (PoolOutcome& outcome : outcomes_) {
      planned.plan.pools[outcome.pool].peak_bytes = outcome.peak;
      const bool is_asked_for = available(outcome.pool).has_value() && !outcome.fits();
      if (outcome.total == 0 && !is_asked_for) continue;
      outcome.bound = std::move(bounds_[index(outcome.pool)]);
      outcome.is_optimal = outcome.is_optimal || outcome.bound.bytes == outcome.peak;
      find_at_peak(outcome);
      planned.pools.push_back(outcome);
    }
    return planned;
  }

  const Plan& graph_;
  const ApartPlan& apart_;
  const PlanGraphOptions& options_;
  const Clock::time_point begin_ = Clock::now();
  PoolLimits limits_;
  GraphClashes clashes_;
  std::vector<PoolId> pool_of_;          ///< By buffer.
  std::vector<std::int64_t> offset_of_;  ///< By buffer.
  std::vector<PoolBound> bounds_;        ///< By pool.
  std::vector<PoolOutcome> outcomes_;    ///< By pool.
};

}  // namespace

PlannedGraph plan_graph(const Plan& graph, const ApartPlan& apart,
                        const PlanGraphOptions& options) {
  return GraphPlanner(graph, apart, options).run();
}

}  // namespace memverify
