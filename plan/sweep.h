// plan/sweep.h -- pairs of items whose address ranges meet, without looking at all pairs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "plan/region.h"

namespace memverify {

struct SweepItem {
  PoolId pool = PoolId{0};
  ByteRange hull;
  std::size_t id = 0;   ///< The caller's; breaks ties.
  bool strong = false;  ///< See SweepPairs.
};

/// Which pairs are asked for.
enum class SweepPairs : std::uint8_t {
  kSomeStrong,      ///< At least one is strong.
  kWeakWithStrong,  ///< Just one is.
};

/// Calls `visit(a, b)` with the ids of every two items of one pool whose non-empty hulls meet,
/// until it returns true. Reorders `items`; the order of the pairs depends on the items only. Cost:
/// O(n log n + n * hulls of items to pair with that are open at once).
template <SweepPairs kPairs = SweepPairs::kSomeStrong, typename Visit>
void for_each_meeting_pair(std::vector<SweepItem>& items, Visit visit) {
  std::erase_if(items, [](const SweepItem& item) { return item.hull.empty(); });
  std::ranges::sort(items, {}, [](const SweepItem& item) {
    return std::tuple(item.pool, item.hull.begin, item.id);
  });
  std::vector<const SweepItem*> open[2];  // Weak, strong.
  for (const SweepItem& item : items) {
    for (const bool strong : {false, true}) {
      if (kPairs == SweepPairs::kSomeStrong ? !strong && !item.strong : strong == item.strong) {
        continue;
      }
      std::vector<const SweepItem*>& others = open[strong ? 1 : 0];
      std::erase_if(others, [&](const SweepItem* other) {
        return other->pool != item.pool || other->hull.end <= item.hull.begin;
      });
      for (const SweepItem* other : others) {
        if (visit(other->id, item.id)) return;
      }
    }
    open[item.strong ? 1 : 0].push_back(&item);
  }
}

}  // namespace memverify
