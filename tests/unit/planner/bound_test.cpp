// The bound of a graph against every placement that there is.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "plan/writer.h"
#include "planner/placed_plan.h"
#include "tests/support/graph.h"
#include "tests/support/planned.h"

namespace memverify {
namespace {

using testing::hb_verdict;
using testing::SafeGraph;

Plan placed_at(const SafeGraph& safe, const std::vector<std::int64_t>& at) {
  std::vector<Place> places;
  for (std::size_t k = 0; k < safe.apart.buffers.size(); ++k) {
    const GraphBuffer& buffer = safe.apart.buffers[k];
    places.push_back({.root = buffer.root,
                      .pool = PoolId{0},
                      .slots = {at[k]},
                      .bytes = buffer.bytes,
                      .element_0 = buffer.element_0});
  }
  return with_places(safe.graph, places);
}

/// All placements of a small graph, told safe from unsafe by verifying plans: what is safe for each
/// two tensors with all others far away is safe for all together, for two accesses conflict or not
/// whatever else shares their bytes.
class EveryPlacement {
 public:
  explicit EveryPlacement(const SafeGraph& safe) : safe_(safe), unaligned_(safe) {
    for (Tensor& tensor : unaligned_.graph.tensors) tensor.alignment = 0;
    for (std::size_t a = 0; a < count(); ++a) {
      for (std::size_t b = 0; b < count(); ++b) is_safe_.push_back(deltas(a, b));
    }
  }

  /// The lowest peak below `limit`, or `limit`; where that places them is in `best`.
  std::int64_t lowest_peak(std::int64_t limit, std::vector<std::int64_t>& best) const {
    std::vector<std::int64_t> at(count(), 0);
    place(0, 0, limit, at, best);
    return limit;
  }

 private:
  std::size_t count() const { return safe_.apart.buffers.size(); }
  std::int64_t bytes(std::size_t k) const { return safe_.apart.buffers[k].bytes; }
  std::int64_t alignment(std::size_t k) const {
    const Tensor& root = safe_.graph.tensors[safe_.apart.buffers[k].root];
    return std::max<std::int64_t>(root.alignment, 1);
  }

  /// For a < b and each distance at which they overlap: may b lie so far above a?
  std::vector<bool> deltas(std::size_t a, std::size_t b) const {
    std::vector<bool> result;
    if (a >= b) return result;
    for (std::int64_t delta = 1 - bytes(b); delta < bytes(a); ++delta) {
      std::vector<std::int64_t> at;
      for (std::size_t k = 0; k < count(); ++k) {
        at.push_back(1000 * (static_cast<std::int64_t>(k) + 1));
      }
      at[b] = at[a] + delta;
      result.push_back(hb_verdict(placed_at(unaligned_, at)) == Verdict::kSafe);
    }
    return result;
  }

  bool may_lie(std::size_t a, std::size_t b, std::int64_t delta) const {
    if (delta <= -bytes(b) || delta >= bytes(a)) return true;
    return is_safe_[a * count() + b][static_cast<std::size_t>(delta + bytes(b) - 1)];
  }

  void place(std::size_t k, std::int64_t peak, std::int64_t& limit, std::vector<std::int64_t>& at,
             std::vector<std::int64_t>& best) const {
    if (k == count()) {
      limit = peak;
      best = at;
      return;
    }
    for (at[k] = 0; at[k] + bytes(k) < limit; at[k] += alignment(k)) {
      bool fits = true;
      for (std::size_t a = 0; a < k && fits; ++a) fits = may_lie(a, k, at[k] - at[a]);
      if (fits) place(k + 1, std::max(peak, at[k] + bytes(k)), limit, at, best);
      if (peak >= limit) return;
    }
  }

  const SafeGraph& safe_;
  SafeGraph unaligned_;
  std::vector<std::vector<bool>> is_safe_;
};

/// `ctest -L slow` asks for more.
std::uint64_t seeds_of_bounds() {
  const char* seeds = std::getenv("MEMVERIFY_BOUND_SEEDS");
  return seeds == nullptr ? 1500 : std::stoull(seeds);
}

TEST(LowerBound, NoSafePlacementNeedsLess) {
  std::size_t looked_at = 0;
  std::size_t optimal = 0;
  std::size_t above = 0;  // The best placement of all needs more than the bound.
  for (std::uint64_t seed = 0; looked_at < seeds_of_bounds(); ++seed) {
    SCOPED_TRACE(seed);
    const std::size_t most_tensors = seed % 4 == 0 ? 6 : 4;
    const auto safe =
        testing::safe_graph(testing::graph_of(testing::random_small_graph(seed, most_tensors)));
    if (!safe) continue;
    ++looked_at;
    const PlannedGraph planned = testing::planned_by(*safe, *find_strategy("optimal"));
    const PoolOutcome& pool = planned.pools.front();
    std::vector<std::int64_t> best;
    const std::int64_t lowest = EveryPlacement(*safe).lowest_peak(pool.peak, best);
    ASSERT_GE(pool.bound.bytes, pool.bound.largest_live_set);
    ASSERT_LE(pool.bound.bytes, lowest) << write_plan(placed_at(*safe, best));
    if (!best.empty()) {
      ASSERT_EQ(hb_verdict(placed_at(*safe, best)), Verdict::kSafe);
    }
    if (pool.is_optimal) {
      ++optimal;
      ASSERT_EQ(lowest, pool.peak) << write_plan(placed_at(*safe, best));
    }
    if (lowest > pool.bound.bytes) ++above;
  }
  EXPECT_GT(optimal * 10, looked_at * 8);
  RecordProperty("above_the_bound", static_cast<int>(above));
}

}  // namespace
}  // namespace memverify
