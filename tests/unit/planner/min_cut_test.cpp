#include "planner/min_cut.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace memverify {
namespace {

class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed), acyclic_(seed % 2 == 0) {
    for (std::uint32_t k = 0; k < kInner; ++k) network.add_node();
    for (std::uint32_t v = 2; v < kInner + 2; ++v) {
      if (pick(2) != 0) add(FlowNetwork::kSource, v, pick(10));
      if (pick(2) != 0) add(v, FlowNetwork::kSink, pick(10));
      if (pick(3) != 0 && v + 1 < kInner + 2) add(v, v + 1, kUnlimited);
    }
    for (int k = 0; k < 6; ++k) {
      const auto a = static_cast<std::uint32_t>(2 + pick(kInner));
      const auto b = static_cast<std::uint32_t>(2 + pick(kInner));
      if (a == b || (acyclic_ && a > b)) continue;
      add(a, b, pick(3) == 0 ? pick(6) : kUnlimited);
    }
    if (pick(4) == 0) add(FlowNetwork::kSource, FlowNetwork::kSink, pick(5));
  }

  /// `side`: a bit for each inner node on the source's side.
  std::int64_t cut(std::uint32_t side) const {
    std::int64_t sum = 0;
    const auto on_source_side = [&](std::uint32_t v) {
      return v == FlowNetwork::kSource || (v >= 2 && (side >> (v - 2) & 1U) != 0);
    };
    for (const FlowArc& arc : arcs) {
      if (on_source_side(arc.from) && !on_source_side(arc.to)) sum += arc.capacity;
    }
    return sum;
  }

  static constexpr std::uint32_t kInner = 8;
  FlowNetwork network;
  std::vector<FlowArc> arcs;

 private:
  static constexpr std::int64_t kUnlimited = 1000;
  std::int64_t pick(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }
  void add(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
    network.add_arc(from, to, capacity);
    arcs.push_back({from, to, capacity});
  }

  std::mt19937_64 random_;
  bool acyclic_;
};

TEST(MinCut, IsTheLeastOfAllCutsWithTheFewestNodes) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const RandomNetwork random(seed);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::uint32_t in_every_least = 0;
    for (std::uint32_t side = 0; side < 1U << RandomNetwork::kInner; ++side) {
      const std::int64_t cut = random.cut(side);
      if (cut > least) continue;
      in_every_least = cut < least ? side : in_every_least & side;
      least = cut;
    }
    const std::vector<std::uint8_t> found = random.network.source_side();
    ASSERT_EQ(found.size(), RandomNetwork::kInner + 2);
    EXPECT_EQ(found[FlowNetwork::kSource], 1);
    EXPECT_EQ(found[FlowNetwork::kSink], 0);
    std::uint32_t side = 0;
    for (std::uint32_t k = 0; k < RandomNetwork::kInner; ++k) side |= found[k + 2] * (1U << k);
    EXPECT_EQ(random.cut(side), least) << seed;
    EXPECT_EQ(side, in_every_least) << seed;
  }
}

TEST(MinCut, OfALongRowIsFound) {
  FlowNetwork network;
  std::uint32_t last = 0;
  for (std::int64_t k = 0; k < 20'000; ++k) {
    const std::uint32_t node = network.add_node();
    if (last != 0) network.add_arc(last, node, 1'000'000);
    network.add_arc(FlowNetwork::kSource, node, 1 + k * 7 % 13);
    network.add_arc(node, FlowNetwork::kSink, 1 + k * 5 % 13);
    last = node;
  }
  EXPECT_EQ(network.source_side()[FlowNetwork::kSink], 0);
}

}  // namespace
}  // namespace memverify
