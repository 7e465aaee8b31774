#include "planner/plan_graph.h"

#include <algorithm>
#include <numeric>

#include "plan/layout.h"
#include "plan/words.h"
#include "planner/cases.h"
#include "planner/in_place.h"
#include "planner/placed_plan.h"

namespace memverify {
namespace {

std::int64_t align_to(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

class GraphPlanner {
 public:
  GraphPlanner(const Plan& graph, const ApartPlan& apart, const GraphClashes& clashes,
               const PlanGraphOptions& options)
      : graph_(graph),
        apart_(apart),
        clashes_(options.wrong_clashes != nullptr ? options.wrong_clashes(apart, clashes)
                                                  : clashes),
        options_(options) {}

  PlannedGraph run() {
    family_alignments();
    capacities();
    choose_pools();
    bounds_ = pool_bounds(apart_, clashes_, pool_of_);
    for (const PoolId pool : ids(graph_.pools)) outcomes_.push_back(place_pool(pool));
    if (spill()) bounds_ = pool_bounds(apart_, clashes_, pool_of_);
    return result();
  }

 private:
  /// What the views of a root ask of its address.
  void family_alignments() {
    alignment_.resize(graph_.tensors.size(), 1);
    for (const TensorId id : ids(graph_.tensors)) {
      const std::int64_t own = graph_.tensors[id].alignment;
      std::int64_t& all = alignment_[index(graph_.tensors[id].root)];
      if (own > 0) all = std::lcm(all, own);
    }
  }

  /// The least capacities and the highest ends of storages over all symbol values.
  void capacities() {
    fixed_end_.assign(graph_.pools.size(), 0);
    capacity_.assign(graph_.pools.size(), options_.capacity);
    for (const Valuation& valuation : size_valuations(graph_)) {
      const Result<Layout> layout = Layout::make(apart_.plan, valuation);
      if (layout.ok()) note_pools(layout.value());
    }
  }

  void note_pools(const Layout& layout) {
    for (const PoolId pool : ids(graph_.pools)) {
      const std::optional<Expr>& bytes = graph_.pools[pool].bytes;
      std::optional<std::int64_t>& capacity = capacity_[index(pool)];
      if (!bytes || options_.capacity) continue;
      capacity = std::min(capacity.value_or(layout.value(*bytes)), layout.value(*bytes));
    }
    for (const StorageId storage : ids(graph_.storages)) {
      const auto slots = static_cast<std::int64_t>(graph_.storages[storage].slots.size());
      std::int64_t& end = fixed_end_[index(graph_.storages[storage].pool)];
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        end = std::max(end, layout.slot_address(storage, slot) + layout.storage(storage).bytes);
      }
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
    return std::lcm(alignment_[index(apart_.buffers[b].root)], graph_.pools[pool_of_[b]].alignment);
  }

  /// A problem for one pool, and which of its buffers each of ours is.
  struct PoolProblem {
    Problem problem;
    std::vector<BufferIndex> place_in;  ///< By group.
  };
  static constexpr BufferIndex kElsewhere = 0xFFFFFFFFU;

  bool in_problem(BufferIndex b, PoolId pool) const {
    return pool_of_[b] == pool && clashes_.permanent[b] == 0;
  }

  PoolProblem make_problem(PoolId pool, const Groups& groups) const {
    PoolProblem made;
    made.place_in.assign(apart_.buffers.size() + clashes_.fixed.size(), kElsewhere);
    std::vector<Buffer>& buffers = made.problem.buffers;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (!in_problem(b, pool)) continue;
      const BufferIndex group = groups.group_of[b];
      BufferIndex& at = made.place_in[group];
      if (at == kElsewhere) {
        at = static_cast<BufferIndex>(buffers.size());
        buffers.push_back({.name = std::string(graph_.tensors[apart_.buffers[b].root].name)});
        made.problem.live_ranges.push_back(clashes_.live_ranges[b]);
      }
      Buffer& buffer = buffers[at];
      buffer.bytes = std::max(buffer.bytes, groups.offset_in[b] + apart_.buffers[b].bytes);
      buffer.alignment = std::lcm(buffer.alignment, alignment_of(b));
      LiveRange& range = made.problem.live_ranges[at];
      range.begin = std::min(range.begin, clashes_.live_ranges[b].begin);
      range.end = std::max(range.end, clashes_.live_ranges[b].end);
    }
    add_fixed(pool, made);
    add_clashes(groups, made);
    return made;
  }

  void add_fixed(PoolId pool, PoolProblem& made) const {
    for (std::size_t k = 0; k < clashes_.fixed.size(); ++k) {
      const BufferMap::Fixed& fixed = clashes_.fixed[k];
      if (fixed.pool != pool) continue;
      made.place_in[apart_.buffers.size() + k] =
          static_cast<BufferIndex>(made.problem.buffers.size());
      made.problem.buffers.push_back(
          {.bytes = fixed.bytes.end - fixed.bytes.begin, .offset = fixed.bytes.begin});
      made.problem.live_ranges.push_back({0, 1});
    }
  }

  void add_clashes(const Groups& groups, PoolProblem& made) const {
    std::vector<Clash>& out = made.problem.clashes;
    const std::size_t movable = apart_.buffers.size();
    const auto add = [&](const Clash& clash) {
      const auto group = [&](BufferIndex b) { return b < movable ? groups.group_of[b] : b; };
      const auto shifted = [&](BufferIndex b, ByteRange range) {
        const std::int64_t by = b < movable ? groups.offset_in[b] : 0;
        return ByteRange{range.begin + by, range.end + by};
      };
      const BufferIndex first = made.place_in[group(clash.first)];
      const BufferIndex second = made.place_in[group(clash.second)];
      if (first == kElsewhere || second == kElsewhere || first == second) return;
      const ByteRange of_first = shifted(clash.first, clash.of_first);
      const ByteRange of_second = shifted(clash.second, clash.of_second);
      out.push_back(first < second ? Clash{first, second, of_first, of_second}
                                   : Clash{second, first, of_second, of_first});
    };
    if (!clashes_.gap.empty()) {
      all_clash(made.problem);
      return;
    }
    for (const Clash& clash : clashes_.clashes) add(clash);
    for (const Handoff& handoff : clashes_.handoffs) add(handoff.clash);
    std::ranges::sort(out, {}, [](const Clash& c) { return std::pair(c.first, c.second); });
  }

  static void all_clash(Problem& problem) {
    const auto count = static_cast<BufferIndex>(problem.buffers.size());
    for (BufferIndex a = 0; a < count; ++a) {
      for (BufferIndex b = a + 1; b < count; ++b) {
        const ByteRange of_a{0, problem.buffers[a].bytes};
        const ByteRange of_b{0, problem.buffers[b].bytes};
        if (!of_a.empty() && !of_b.empty()) problem.clashes.push_back({a, b, of_a, of_b});
      }
    }
  }

  PoolOutcome place_pool(PoolId pool) {
    PoolOutcome outcome{.pool = pool, .capacity = capacity_[index(pool)]};
    std::int64_t kept = 0;
    std::int64_t permanent = 0;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != pool) continue;
      outcome.total += apart_.buffers[b].bytes;
      if (in_problem(b, pool)) continue;
      kept = align_to(kept, alignment_of(b)) + apart_.buffers[b].bytes;
      permanent += apart_.buffers[b].bytes;
    }
    std::optional<std::int64_t> room = outcome.capacity;
    if (room) room = std::max<std::int64_t>(*room - kept, 0);
    place_best(pool, room, std::max<std::int64_t>(bounds_[index(pool)].bytes - permanent, 0),
               outcome);
    stack_permanent(pool);
    outcome.peak = fixed_end_[index(pool)];
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != pool || apart_.buffers[b].bytes == 0) continue;
      outcome.peak = std::max(outcome.peak, offset_of_[b] + apart_.buffers[b].bytes);
    }
    return outcome;
  }

  /// With the in-place pairs together, or all apart, whichever needs less.
  void place_best(PoolId pool, std::optional<std::int64_t> room, std::int64_t bound,
                  PoolOutcome& outcome) {
    std::vector<std::int64_t> bytes;
    std::vector<std::int64_t> alignments;
    bool pairs = false;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      bytes.push_back(apart_.buffers[b].bytes);
      alignments.push_back(in_problem(b, pool) ? alignment_of(b) : 0);
    }
    for (const Handoff& handoff : clashes_.handoffs) {
      pairs =
          pairs || (alignments[handoff.clash.first] != 0 && alignments[handoff.clash.second] != 0);
    }
    std::int64_t best = -1;
    for (const bool together : {true, false}) {
      if (together && (!pairs || !clashes_.gap.empty())) continue;
      const Groups groups =
          together ? in_place_groups(clashes_, bytes, alignments) : no_groups(bytes.size());
      PoolProblem made = make_problem(pool, groups);
      made.problem.capacity = room;
      made.problem.lower_bound = bound;
      if (made.problem.buffers.empty()) continue;
      const Placement placement = options_.place(made.problem, options_.strategy);
      if (best >= 0 && placement.peak >= best) continue;
      best = placement.peak;
      outcome.is_optimal = placement.is_optimal && !pairs;
      outcome.allocator = placement.allocator;
      for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
        if (!in_problem(b, pool)) continue;
        offset_of_[b] = placement.offsets[made.place_in[groups.group_of[b]]] + groups.offset_in[b];
      }
    }
  }

  /// What lives all the time goes on top of the rest.
  void stack_permanent(PoolId pool) {
    std::int64_t next = 0;
    std::vector<BufferIndex> kept;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != pool) continue;
      if (!in_problem(b, pool)) {
        kept.push_back(b);
      } else {
        next = std::max(next, offset_of_[b] + apart_.buffers[b].bytes);
      }
    }
    std::ranges::stable_sort(kept, std::greater(), [&](BufferIndex b) { return alignment_of(b); });
    for (const BufferIndex b : kept) {
      offset_of_[b] = align_to(next, alignment_of(b));
      next = offset_of_[b] + apart_.buffers[b].bytes;
    }
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
        outcomes_[index(pool)] = place_pool(pool);
      }
    }
    return spilled;
  }

  /// Moves the tensor that frees enough with the least, or the largest one, to the pool that comes
  /// next in its list. Returns that pool.
  PoolId move_one(PoolId pool, std::int64_t excess) {
    BufferIndex best = kElsewhere;
    const auto bytes = [&](BufferIndex b) { return apart_.buffers[b].bytes; };
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != pool || next_pool(b) == kNone<PoolId> || bytes(b) == 0) continue;
      const bool better = best == kElsewhere ||
                          (bytes(b) >= excess ? bytes(best) < excess || bytes(b) < bytes(best)
                                              : bytes(best) < excess && bytes(b) > bytes(best));
      if (better) best = b;
    }
    if (best == kElsewhere) return kNone<PoolId>;
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

  void find_at_peak(PoolOutcome& outcome) const {
    BufferIndex top = kElsewhere;
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      const bool at_top = pool_of_[b] == outcome.pool && apart_.buffers[b].bytes > 0 &&
                          offset_of_[b] + apart_.buffers[b].bytes == outcome.peak;
      if (at_top) top = b;
    }
    if (top == kElsewhere) return;
    outcome.at_peak.push_back(top);
    std::vector<std::uint8_t> meets(apart_.buffers.size() + clashes_.fixed.size(), 0);
    for (const Clash& clash : clashes_.clashes) {
      if (clash.first == top) meets[clash.second] = 1;
      if (clash.second == top) meets[clash.first] = 1;
    }
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (pool_of_[b] != outcome.pool || b == top || apart_.buffers[b].bytes == 0) continue;
      if (meets[b] != 0 || clashes_.permanent[b] != 0) outcome.at_peak.push_back(b);
    }
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
      if (outcome.total == 0) continue;
      outcome.bound = std::move(bounds_[index(outcome.pool)]);
      outcome.is_optimal = outcome.is_optimal || outcome.bound.bytes == outcome.peak;
      find_at_peak(outcome);
      planned.pools.push_back(outcome);
    }
    return planned;
  }

  const Plan& graph_;
  const ApartPlan& apart_;
  const GraphClashes clashes_;
  const PlanGraphOptions& options_;
  std::vector<std::int64_t> alignment_;                ///< By root.
  std::vector<std::optional<std::int64_t>> capacity_;  ///< By pool.
  std::vector<std::int64_t> fixed_end_;                ///< By pool: of the storages it has.
  std::vector<PoolId> pool_of_;                        ///< By buffer.
  std::vector<std::int64_t> offset_of_;                ///< By buffer.
  std::vector<PoolBound> bounds_;                      ///< By pool.
  std::vector<PoolOutcome> outcomes_;                  ///< By pool.
};

}  // namespace

PlannedGraph plan_graph(const Plan& graph, const ApartPlan& apart, const GraphClashes& clashes,
                        const PlanGraphOptions& options) {
  return GraphPlanner(graph, apart, clashes, options).run();
}

}  // namespace memverify
