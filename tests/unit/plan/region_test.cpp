#include "plan/region.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace memverify {
namespace {

constexpr PoolId kPool{0};
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

using Bytes = std::set<std::int64_t>;

Region strided(std::int64_t base, std::int64_t run, const std::vector<Dim>& dims) {
  return Region::strided(kPool, base, run, dims).value();
}

Region range(std::int64_t begin, std::int64_t end) {
  return Region::contiguous(kPool, begin, end - begin);
}

Bytes bytes_of(const Region& region) {
  Bytes bytes;
  for (const ByteRange& run : region.runs()) {
    for (std::int64_t at = run.begin; at < run.end; ++at) bytes.insert(at);
  }
  return bytes;
}

/// The definition: a set of addresses, and how often each is hit.
struct Model {
  Bytes bytes;
  bool twice = false;

  Model(std::int64_t base, std::int64_t run, const std::vector<Dim>& dims) {
    std::vector<std::int64_t> starts{base};
    for (const Dim& dim : dims) {
      std::vector<std::int64_t> next;
      for (std::int64_t start : starts) {
        for (std::int64_t i = 0; i < dim.count; ++i) next.push_back(start + i * dim.stride);
      }
      starts = std::move(next);
    }
    for (std::int64_t start : starts) {
      for (std::int64_t i = 0; i < run; ++i) twice |= !bytes.insert(start + i).second;
    }
  }

  void clip(ByteRange window) {
    std::erase_if(bytes, [&](std::int64_t at) { return at < window.begin || at >= window.end; });
  }

  std::vector<ByteRange> runs() const {
    std::vector<ByteRange> runs;
    for (std::int64_t at : bytes) {
      if (runs.empty() || runs.back().end != at) runs.push_back({at, at});
      ++runs.back().end;
    }
    return runs;
  }

  ByteRange hull() const {
    return bytes.empty() ? ByteRange{} : ByteRange{*bytes.begin(), *bytes.rbegin() + 1};
  }
};

/// A random region beside its model: up to four dims, any kind of stride, maybe clipped.
struct Sample {
  Region region;
  Model model;
  bool self_overlaps = false;

  explicit Sample(std::mt19937& random, bool may_clip = true) : model(0, 0, {}) {
    const auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    const std::int64_t base = pick(-20, 60);
    const std::int64_t run = pick(0, 9) == 0 ? 0 : pick(1, pick(0, 1) == 0 ? 2 : 6);
    std::vector<Dim> dims;
    std::int64_t dense = run;
    for (int d = pick(0, 4); d > 0; --d) {
      const std::int64_t count = pick(0, 19) == 0 ? 0 : pick(1, 4);
      // Half of the strides step over what is there so far, with a gap or an overlap of a byte or
      // two.
      std::int64_t stride = pick(0, 1) == 0 ? pick(-12, 12) : dense + pick(-2, 4);
      if (pick(0, 3) == 0) stride = -stride;
      dims.push_back({count, stride});
      dense = std::max(dense, std::abs(stride) * count);
    }
    std::shuffle(dims.begin(), dims.end(), random);
    model = Model(base, run, dims);
    region = strided(base, run, dims);
    self_overlaps = memverify::self_overlaps(run, dims);
    for (int clips = may_clip ? pick(-1, 2) : 0; clips > 0; --clips) {
      const std::int64_t begin = pick(-40, 80);
      const ByteRange window{begin, begin + pick(0, 120)};
      region = region.clipped(window);
      model.clip(window);
    }
  }
};

TEST(Region, TouchingRangesDoNotOverlap) {
  EXPECT_FALSE(range(0, 4).overlaps(range(4, 8)));
  EXPECT_TRUE(range(0, 5).overlaps(range(4, 8)));
  EXPECT_EQ(range(0, 5).first_overlap(range(4, 8)), (ByteRange{4, 5}));
}

TEST(Region, PoolsAreSeparateAddressSpaces) {
  EXPECT_FALSE(range(0, 4).overlaps(Region::contiguous(PoolId{1}, 0, 4)));
  EXPECT_FALSE(range(0, 4).same_bytes(Region::contiguous(PoolId{1}, 0, 4)));
}

TEST(Region, EmptyRegionsOverlapNothing) {
  for (const Region& empty : {Region(), range(3, 3), strided(3, 0, {{4, 8}}),
                              strided(3, 4, {{4, 8}, {0, 2}}), range(0, 9).clipped({9, 12})}) {
    EXPECT_TRUE(empty.empty());
    EXPECT_FALSE(empty.overlaps(range(0, 100)));
    EXPECT_TRUE(empty.runs().empty());
    EXPECT_TRUE(empty.same_bytes(Region()));
  }
}

TEST(Region, DenseBoxesBecomeContiguous) {
  EXPECT_TRUE(strided(8, 4, {{16, 64}, {16, 4}}).is_contiguous());
  EXPECT_TRUE(strided(8, 4, {{16, 4}, {16, 64}}).is_contiguous());  // Column-major.
  EXPECT_TRUE(strided(8, 4, {{3, -4}, {5, 0}, {1, 99}}).is_contiguous());
  EXPECT_TRUE(strided(8, 4, {{9, 3}, {2, 20}}).is_contiguous());  // Overlapping rows.
  EXPECT_TRUE(strided(8, 4, {{9, 16}}).clipped({20, 30}).is_contiguous());
  EXPECT_FALSE(strided(8, 4, {{9, 5}}).is_contiguous());
}

TEST(Region, HullIsExactAfterClipping) {
  const Region columns = strided(0, 4, {{10, 16}});  // 0-4 16-20 32-36 …
  EXPECT_EQ(columns.hull(), (ByteRange{0, 148}));
  EXPECT_EQ(columns.clipped({5, 60}).hull(), (ByteRange{16, 52}));
  EXPECT_EQ(columns.clipped({17, 51}).hull(), (ByteRange{17, 51}));
  EXPECT_TRUE(columns.clipped({4, 16}).empty());
}

TEST(Region, InterleavedColumnsShareNothingHoweverMany) {
  const std::int64_t rows = 1'000'000;
  const Region left = strided(0, 512, {{rows, 1024}});
  const Region right = strided(512, 512, {{rows, 1024}});
  EXPECT_FALSE(left.overlaps(right));
  EXPECT_TRUE(left.first_overlap(right).empty());
  EXPECT_TRUE(left.overlaps(strided(511, 1, {{rows, 1024}})));
  EXPECT_EQ(left.count_runs(5), 5);
  EXPECT_EQ(left.count_runs(kMost), rows);
}

TEST(Region, FirstOverlapIsFoundWithoutWalkingTheRuns) {
  // Strides 1000 and 1001 meet every 1001000 bytes; residues that differ by 999 meet late.
  const Region a = strided(0, 1, {{1'000'000, 1000}});
  const Region b = strided(2, 1, {{1'000'000, 1001}});
  EXPECT_EQ(a.first_overlap(b), (ByteRange{999'000, 999'001}));
  // A common byte only at the very end.
  const Region c = strided(0, 2, {{1'000'000, 4}}).clipped({0, 4'000'000});
  const Region d = strided(2, 2, {{999'999, 4}});
  EXPECT_FALSE(c.overlaps(d));
  EXPECT_EQ(c.first_overlap(range(3'999'997, 5'000'000)), (ByteRange{3'999'997, 3'999'998}));
}

TEST(Region, ExtremeAddressesDoNotOverflow) {
  EXPECT_FALSE(Region::strided(kPool, kMost - 8, 4, std::vector<Dim>{{3, 4}}).has_value());
  EXPECT_FALSE(Region::strided(kPool, 0, 4, std::vector<Dim>{{kMost, kMost}}).has_value());
  EXPECT_FALSE(Region::strided(kPool, 0, 1, std::vector<Dim>{{3, kLeast}}).has_value());
  const Region wide = strided(kLeast, 1, {{3, kMost - 1}});  // kLeast, -2, kMost - 3.
  EXPECT_EQ(wide.hull(), (ByteRange{kLeast, kMost - 2}));
  EXPECT_TRUE(wide.overlaps(range(-2, -1)));
  EXPECT_FALSE(wide.overlaps(range(-1, kMost - 3)));
  EXPECT_EQ(wide.first_overlap(range(-1, kMost - 1)), (ByteRange{kMost - 3, kMost - 2}));
  EXPECT_TRUE(wide.overlaps(strided(kLeast, 1, {{3, kMost - 2}})));
  EXPECT_FALSE(wide.overlaps(strided(kLeast + 3, 1, {{3, kMost - 2}})));
  EXPECT_FALSE(wide.shifted(3).has_value());
  EXPECT_EQ(wide.shifted(2)->hull(), (ByteRange{kLeast + 2, kMost}));
  EXPECT_EQ(wide.count_runs(kMost), 3);
}

TEST(Region, AgreesWithTheDefinitionOnRandomBoxes) {
  std::mt19937 random(20240611);
  for (int round = 0; round < 20'000; ++round) {
    SCOPED_TRACE(round);
    const Sample sample(random);
    ASSERT_EQ(sample.region.hull(), sample.model.hull());
    ASSERT_EQ(sample.region.runs(), sample.model.runs());
    const auto runs = static_cast<std::int64_t>(sample.model.runs().size());
    ASSERT_EQ(sample.region.count_runs(kMost), runs);
    ASSERT_EQ(sample.region.count_runs(2), std::min<std::int64_t>(runs, 2));
    const Region moved = *sample.region.shifted(-1000);
    ASSERT_EQ(bytes_of(moved).size(), sample.model.bytes.size());
    ASSERT_TRUE(moved.shifted(1000)->same_bytes(sample.region));
  }
}

TEST(Region, AgreesWithTheDefinitionOnRandomPairs) {
  std::mt19937 random(7);
  int hits = 0;
  for (int round = 0; round < 50'000; ++round) {
    SCOPED_TRACE(round);
    const Sample a(random);
    const Sample b(random);
    Model both = a.model;
    std::erase_if(both.bytes, [&](std::int64_t at) { return !b.model.bytes.contains(at); });
    const ByteRange first = both.bytes.empty() ? ByteRange{} : both.runs().front();
    ASSERT_EQ(a.region.overlaps(b.region), !both.bytes.empty());
    ASSERT_EQ(b.region.overlaps(a.region), !both.bytes.empty());
    ASSERT_EQ(a.region.first_overlap(b.region), first);
    ASSERT_EQ(a.region.same_bytes(b.region), a.model.bytes == b.model.bytes);
    hits += both.bytes.empty() ? 0 : 1;
  }
  EXPECT_GT(hits, 4'000);
}

// Small scope, no luck involved: every pair of boxes of up to two dims against bit masks.
TEST(Region, AgreesWithTheDefinitionOnEveryPairOfSmallBoxes) {
  std::vector<std::pair<Region, std::uint64_t>> all;
  for (std::int64_t run = 1; run <= 3; ++run) {
    for (std::int64_t s = 1; s <= 5; ++s) {
      for (std::int64_t n = 1; n <= 4; n += n == 1 ? 1 : 2) {
        for (std::int64_t t = 1; t <= 6; ++t) {
          for (std::int64_t m = 1; m <= 3; ++m) {
            const std::vector<Dim> dims{{n, s}, {m, t}};
            std::uint64_t mask = 0;
            for (std::int64_t at : Model(0, run, dims).bytes) mask |= std::uint64_t{1} << at;
            all.emplace_back(strided(0, run, dims), mask);
          }
        }
      }
    }
  }
  for (const auto& [a, mask_a] : all) {
    for (const auto& [b, mask_b] : all) {
      ASSERT_EQ(a.same_bytes(b), mask_a == mask_b);
      for (int shift : {2, 5}) {
        ASSERT_EQ(a.overlaps(*b.shifted(shift)), (mask_a & (mask_b << shift)) != 0);
      }
    }
  }
}

TEST(SelfOverlaps, AgreesWithTheDefinitionOnRandomBoxes) {
  std::mt19937 random(11);
  int hits = 0;
  for (int round = 0; round < 20'000; ++round) {
    SCOPED_TRACE(round);
    const Sample sample(random, /*may_clip=*/false);
    ASSERT_EQ(sample.self_overlaps, sample.model.twice);
    hits += sample.self_overlaps ? 1 : 0;
  }
  EXPECT_GT(hits, 2'000);
  EXPECT_LT(hits, 18'000);
}

TEST(SelfOverlaps, LargeBoxesAreDecidedAtOnce) {
  const std::vector<Dim> image{{64, 602112}, {3, 200704}, {224, 896}, {224, 4}};
  EXPECT_FALSE(self_overlaps(4, image));
  const std::vector<Dim> windows{{220, 896}, {220, 4}, {5, 896}, {5, 4}};
  EXPECT_TRUE(self_overlaps(4, windows));
}

}  // namespace
}  // namespace memverify
