#include "verify/turns.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace memverify {
namespace {

/// The bytes of one slot, or those that an op clobbers in a pool.
struct Extent {
  std::uint32_t pool = 0;
  std::int64_t begin = 0, end = 0;
  std::size_t owner = 0;
};

std::size_t leader(std::vector<std::size_t>& leaders, std::size_t member) {
  while (leaders[member] != member) {
    leaders[member] = leaders[leaders[member]];
    member = leaders[member];
  }
  return member;
}

std::int64_t common(std::int64_t a, std::int64_t b, std::int64_t limit) {
  return std::min(std::lcm(a, b), limit);
}

}  // namespace

Turns find_turns(const Plan& plan, const Layout& layout, std::int64_t limit) {
  std::vector<Extent> extents;
  std::vector<std::int64_t> turns;  // By owner.
  Turns result;
  for (StorageId id : ids(plan.storages)) {
    const auto slots = static_cast<std::int64_t>(plan.storages[id].slots.size());
    const StorageLayout& storage = layout.storage(id);
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const std::int64_t begin = layout.slot_address(id, slot);
      extents.push_back({index(storage.pool), begin, begin + storage.bytes, turns.size()});
    }
    turns.push_back(slots);
    result.all = common(result.all, slots, limit);
  }
  for (const Access& access : plan.accesses) {
    if (access.tensor != kNone<TensorId>) continue;
    const Region region = layout.access_region(plan, access, 0);
    if (region.empty()) continue;
    extents.push_back({index(region.pool()), region.hull().begin, region.hull().end, turns.size()});
    turns.push_back(1);
  }
  std::ranges::sort(extents, {}, [](const Extent& e) { return std::pair(e.pool, e.begin); });
  std::vector<std::size_t> leaders(turns.size());
  std::iota(leaders.begin(), leaders.end(), 0);
  // `reach` has the highest end so far of the pool.
  for (std::size_t k = 1, reach = 0; k < extents.size(); ++k) {
    const bool same_pool = extents[k].pool == extents[reach].pool;
    if (same_pool && extents[k].begin < extents[reach].end) {
      leaders[leader(leaders, extents[k].owner)] = leader(leaders, extents[reach].owner);
    }
    if (!same_pool || extents[k].end > extents[reach].end) reach = k;
  }
  std::vector<std::int64_t> group(turns.size(), 1);
  for (std::size_t k = 0; k < turns.size(); ++k) {
    std::int64_t& turn = group[leader(leaders, k)];
    turn = common(turn, turns[k], limit);
    result.longest = std::max(result.longest, turn);
  }
  return result;
}

}  // namespace memverify
