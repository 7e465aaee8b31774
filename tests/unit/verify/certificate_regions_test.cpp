#include "verify/certificate_regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "verify/certificate_search.h"

namespace memverify::cert {
namespace {

using Byte = std::pair<PoolId, std::int64_t>;

constexpr PoolId kPool{0}, kOther{1};

std::vector<PointRange> points_of(const Regions& regions, Regions::Id id) {
  const PointRange points = regions.points(id);
  const auto ranges = regions.ranges(points);
  return {ranges.begin(), ranges.end()};
}

Region rows(PoolId pool, std::int64_t base, std::int64_t run, std::int64_t count,
            std::int64_t stride) {
  return *Region::strided(pool, base, run, std::vector<Dim>{{count, stride}});
}

TEST(Regions, AColumnIsOnePoint) {
  Regions regions;
  const auto whole = regions.add(Region::contiguous(kPool, 0, 512));
  const auto left = regions.add(rows(kPool, 0, 3, 64, 8));
  const auto right = regions.add(rows(kPool, 3, 5, 64, 8));
  EXPECT_EQ(regions.add(rows(kPool, 3, 5, 64, 8)), right);
  regions.number();
  EXPECT_EQ(points_of(regions, whole), (std::vector<PointRange>{{0, 2}}));
  EXPECT_EQ(points_of(regions, left), (std::vector<PointRange>{{0, 1}}));
  EXPECT_EQ(points_of(regions, right), (std::vector<PointRange>{{1, 2}}));
  EXPECT_EQ(regions.address(1), 3);
}

TEST(Regions, WhatIsContiguousStaysARangeOfItsOwn) {
  Regions regions;
  std::vector<Regions::Id> ids;
  for (std::int64_t k = 0; k < 3000; ++k)
    ids.push_back(regions.add(Region::contiguous(kPool, 8 * k, 8)));
  const auto empty = regions.add(Region());
  regions.number();
  for (Point k = 0; k < 3000; ++k) {
    EXPECT_EQ(points_of(regions, ids[k]), (std::vector<PointRange>{{k, k + 1}}));
  }
  ASSERT_EQ(points_of(regions, empty).size(), 1U);
  EXPECT_EQ(points_of(regions, empty)[0].begin, points_of(regions, empty)[0].end);
}

Region random_region(std::mt19937_64& random) {
  const auto upto = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % most); };
  const PoolId pool = random() % 4 == 0 ? kOther : kPool;
  if (random() % 3 == 0) return Region::contiguous(pool, upto(60), upto(12));
  const std::int64_t run = 1 + upto(3);
  return rows(pool, upto(20), run, 1 + upto(6), run + upto(8));
}

/// Each region holds whole points, and regions share a point exactly where they share a byte.
TEST(Regions, PointsAreWhatRegionsHoldAsAWhole) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    Regions regions;
    std::map<Regions::Id, std::set<Byte>> bytes;
    for (auto left = 1 + random() % 8; left > 0; --left) {
      const Region region = random_region(random);
      std::set<Byte>& held = bytes[regions.add(region)];
      for (const ByteRange& run : region.runs()) {
        for (std::int64_t byte = run.begin; byte < run.end; ++byte)
          held.emplace(region.pool(), byte);
      }
    }
    regions.number();
    std::map<Byte, std::set<Regions::Id>> wanted;    // By byte: who holds it.
    std::map<Point, std::set<Regions::Id>> holders;  // By point.
    for (const auto& [id, held] : bytes) {
      for (const Byte& byte : held) wanted[byte].insert(id);
      std::int64_t last = -1;
      const auto ranges = points_of(regions, id);
      for (const PointRange& range : ranges) {
        if (ranges.size() > 1) {
          EXPECT_LT(range.begin, range.end);
        }
        EXPECT_LT(last, std::int64_t{range.begin});
        last = range.end;
        EXPECT_LT(range.end, regions.size());
        for (Point point = range.begin; point < range.end; ++point) holders[point].insert(id);
      }
    }
    std::set<std::set<Regions::Id>> sets, wanted_sets;
    for (const auto& [point, ids] : holders) {
      sets.insert(ids);
      const PoolId pool = bytes[*ids.begin()].begin()->first;
      EXPECT_EQ((wanted[{pool, regions.address(point)}]), ids) << round;
    }
    for (const auto& [byte, ids] : wanted) wanted_sets.insert(ids);
    EXPECT_EQ(sets, wanted_sets) << round;
  }
}

TEST(SearchFrom, FindsTheSameFromEverywhere) {
  for (int size = 0; size < 40; ++size) {
    std::vector<int> odd;
    for (int k = 0; k < size; ++k) odd.push_back(2 * k + 1);
    for (int wanted = 0; wanted <= 2 * size; ++wanted) {
      for (auto from = odd.begin();; ++from) {
        EXPECT_EQ(search_from(odd.begin(), odd.end(), from, [&](int k) { return k < wanted; }),
                  std::ranges::lower_bound(odd, wanted));
        if (from == odd.end()) break;
      }
    }
  }
}

}  // namespace
}  // namespace memverify::cert
