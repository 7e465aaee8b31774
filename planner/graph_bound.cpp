#include "planner/graph_bound.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "planner/clashes.h"
#include "planner/handoff.h"
#include "planner/lower_bound.h"

namespace memverify {
namespace {

constexpr std::size_t kMostPairsChecked = 5000;  ///< Members; larger antichains are not checked.

}  // namespace

PoolBounder::PoolBounder(const ApartPlan& apart, std::vector<PoolId> pool_of)
    : apart_(apart), pool_of_(std::move(pool_of)) {
  for (const GraphBuffer& buffer : apart.buffers) roots_.push_back(buffer.root);
  clobbers_ = std::ranges::any_of(
      apart.plan.accesses, [](const Access& access) { return access.tensor == kNone<TensorId>; });
  result_.resize(apart.plan.pools.size() - 1);
}

std::vector<PoolBound> PoolBounder::bounds(const GraphClashes& clashes) && {
  if (!clashes.gap.empty()) return std::vector<PoolBound>(result_.size());
  const std::vector<std::uint8_t> permanent = permanent_buffers(apart_);
  for (BufferIndex b = 0; b < apart_.buffers.size(); ++b) {
    if (permanent[b] == 0 || apart_.buffers[b].bytes == 0) continue;
    PoolBound& bound = result_[index(pool_of_[b])];
    bound.bytes += apart_.buffers[b].bytes;
    bound.largest_live_set += apart_.buffers[b].bytes;
    bound.live_set_at_most += apart_.buffers[b].bytes;
    bound.members.push_back({b, {0, apart_.buffers[b].bytes}});
  }
  return std::move(result_);
}

void PoolBounder::look(const GraphCase& at) {
  const SharingPairs sharing = sharing_pairs(at);
  for (std::uint32_t p = 0; p < result_.size(); ++p) {
    std::vector<std::int64_t> weights;
    for (const LiveValue& value : at.live.values) {
      // What is clobbered may lie beyond all storages.
      const bool counts = value.buffer < pool_of_.size() || !clobbers_;
      const bool here = counts && pool_of(value.buffer, at.fixed) == PoolId{p};
      weights.push_back(here ? value.bytes.end - value.bytes.begin : 0);
    }
    PoolBound& bound = result_[p];
    const Antichain antichain = heaviest_antichain(at.live, at.order, weights, sharing);
    LiveSet alive = largest_live_set(at.program, at.run, at.live, weights, sharing, work_);
    // What is alive at once is an antichain, unless some may share.
    if (sharing.empty() && antichain.bytes > 0) {
      alive.at_most = std::min(alive.at_most, antichain.bytes);
    }
    bound.largest_live_set = std::max(bound.largest_live_set, alive.bytes);
    bound.live_set_at_most = std::max(bound.live_set_at_most, alive.at_most);
    if (std::max(antichain.bytes, alive.bytes) <= bound.bytes) continue;
    assert((antichain.members.size() > kMostPairsChecked ||
            holds(antichain, at.live, at.order, weights, sharing)) &&
           "an antichain by flow is one by pairs");
    bound.of_one_run = alive.bytes > antichain.bytes;
    assert((!bound.of_one_run || alive.members.size() > kMostPairsChecked ||
            holds({alive.bytes, alive.members}, at.live, at.order, weights, {})) &&
           "what is alive at once does not end before each other");
    bound.bytes = std::max(antichain.bytes, alive.bytes);
    bound.members.clear();
    for (const std::uint32_t v : bound.of_one_run ? alive.members : antichain.members) {
      bound.members.push_back({at.live.values[v].buffer, at.live.values[v].bytes});
    }
  }
}

PoolId PoolBounder::pool_of(BufferIndex b, std::span<const BufferMap::Fixed> fixed) const {
  return b < pool_of_.size() ? pool_of_[b] : fixed[b - pool_of_.size()].pool;
}

SharingPairs PoolBounder::sharing_pairs(const GraphCase& at) const {
  const LiveValues& live = at.live;
  SharingPairs pairs;
  for (std::uint32_t v = 0; v + 1 < live.values.size(); ++v) {
    const LiveValue& value = live.values[v];
    const LiveValue& next = live.values[v + 1];  // One op may read the old and write the new.
    if (value.buffer == next.buffer && value.bytes == next.bytes) pairs.emplace_back(v, v + 1);
  }
  if (apart_.plan.in_places.empty()) return pairs;
  for_each_clash(live, at.order, at.run, [&](std::uint32_t a, std::uint32_t b) {
    if (may_share_in_place(at.program, live, live.values[a], live.values[b], roots_)) {
      pairs.emplace_back(a, b);
    } else if (may_share_in_place(at.program, live, live.values[b], live.values[a], roots_)) {
      pairs.emplace_back(b, a);
    }
  });
  return pairs;
}

std::vector<PoolBound> pool_bounds(const ApartPlan& apart, std::vector<PoolId> pool_of) {
  PoolBounder bounder(apart, std::move(pool_of));
  const GraphClashes clashes =
      find_graph_clashes(apart, [&](const GraphCase& at) { bounder.look(at); });
  return std::move(bounder).bounds(clashes);
}

}  // namespace memverify
