#include "planner/graph_bound.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "planner/cases.h"
#include "planner/clashes.h"
#include "planner/handoff.h"
#include "planner/live_set.h"
#include "planner/lower_bound.h"

namespace memverify {
namespace {

constexpr std::size_t kMostBoundRuns = std::size_t{1} << 22;
constexpr LiveSetWork kLiveSetWork = 50'000;     ///< Two cuts of 25,000 instances, or the like.
constexpr std::size_t kMostPairsChecked = 5000;  ///< Members; larger antichains are not checked.

class Bounder {
 public:
  Bounder(const ApartPlan& apart, const GraphClashes& clashes, const std::vector<PoolId>& pool_of)
      : apart_(apart), clashes_(clashes), pool_of_(pool_of), map_(map_buffers(apart)) {
    for (const GraphBuffer& buffer : apart.buffers) roots_.push_back(buffer.root);
    clobbers_ = std::ranges::any_of(
        apart.plan.accesses, [](const Access& access) { return access.tensor == kNone<TensorId>; });
    result_.resize(apart.plan.pools.size() - 1);
  }

  std::vector<PoolBound> run() {
    for_each_case(apart_.plan, [&](const Program& program) { look(program); });
    for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
      if (clashes_.permanent[b] == 0 || apart_.buffers[b].bytes == 0) continue;
      PoolBound& bound = result_[index(pool_of_[b])];
      bound.bytes += apart_.buffers[b].bytes;
      bound.largest_live_set += apart_.buffers[b].bytes;
      bound.live_set_at_most += apart_.buffers[b].bytes;
      bound.members.push_back({b, {0, apart_.buffers[b].bytes}});
    }
    return std::move(result_);
  }

 private:
  void look(const Program& program) {
    const Walk run = walk(program);
    const Order order(program, run);
    const std::optional<Footprints> footprints = Footprints::make(program, kMostBoundRuns);
    if (!footprints) return;
    const LiveValues live = live_values(program, run, order, *footprints, map_, clashes_.permanent);
    const SharingPairs sharing = sharing_pairs(program, run, order, live);
    for (std::uint32_t p = 0; p < result_.size(); ++p) {
      std::vector<std::int64_t> weights;
      for (const LiveValue& value : live.values) {
        // What is clobbered may lie beyond all storages.
        const bool counts = value.buffer < pool_of_.size() || !clobbers_;
        const bool here = counts && pool_of(value.buffer) == PoolId{p};
        weights.push_back(here ? value.bytes.end - value.bytes.begin : 0);
      }
      PoolBound& bound = result_[p];
      const Antichain antichain = heaviest_antichain(live, order, weights, sharing);
      LiveSet alive = largest_live_set(program, run, live, weights, sharing, work_);
      // What is alive at once is an antichain, unless some may share.
      if (sharing.empty() && antichain.bytes > 0) {
        alive.at_most = std::min(alive.at_most, antichain.bytes);
      }
      bound.largest_live_set = std::max(bound.largest_live_set, alive.bytes);
      bound.live_set_at_most = std::max(bound.live_set_at_most, alive.at_most);
      if (antichain.bytes <= bound.bytes) continue;
      assert((antichain.members.size() > kMostPairsChecked ||
              holds(antichain, live, order, weights, sharing)) &&
             "an antichain by flow is one by pairs");
      bound.bytes = antichain.bytes;
      bound.members.clear();
      for (const std::uint32_t v : antichain.members) {
        bound.members.push_back({live.values[v].buffer, live.values[v].bytes});
      }
    }
  }

  PoolId pool_of(BufferIndex b) const {
    return b < pool_of_.size() ? pool_of_[b] : map_.fixed()[b - pool_of_.size()].pool;
  }

  SharingPairs sharing_pairs(const Program& program, const Walk& run, const Order& order,
                             const LiveValues& live) const {
    SharingPairs pairs;
    for (std::uint32_t v = 0; v + 1 < live.values.size(); ++v) {
      const LiveValue& value = live.values[v];
      const LiveValue& next = live.values[v + 1];  // One op may read the old and write the new.
      if (value.buffer == next.buffer && value.bytes == next.bytes) pairs.emplace_back(v, v + 1);
    }
    if (apart_.plan.in_places.empty()) return pairs;
    for_each_clash(live, order, run, [&](std::uint32_t a, std::uint32_t b) {
      if (may_share_in_place(program, live, live.values[a], live.values[b], roots_)) {
        pairs.emplace_back(a, b);
      } else if (may_share_in_place(program, live, live.values[b], live.values[a], roots_)) {
        pairs.emplace_back(b, a);
      }
    });
    return pairs;
  }

  const ApartPlan& apart_;
  const GraphClashes& clashes_;
  const std::vector<PoolId>& pool_of_;
  BufferMap map_;
  std::vector<TensorId> roots_;
  bool clobbers_ = false;  ///< Some op clobbers bytes of a pool.
  LiveSetWork work_ = kLiveSetWork;
  std::vector<PoolBound> result_;
};

}  // namespace

std::vector<PoolBound> pool_bounds(const ApartPlan& apart, const GraphClashes& clashes,
                                   const std::vector<PoolId>& pool_of) {
  if (!clashes.gap.empty()) return std::vector<PoolBound>(apart.plan.pools.size() - 1);
  return Bounder(apart, clashes, pool_of).run();
}

}  // namespace memverify
