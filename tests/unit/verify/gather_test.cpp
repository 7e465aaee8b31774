#include "verify/gather.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace memverify {
namespace {

TEST(Gathering, AColumnIsOnePlace) {
  std::vector<ByteRange> columns[2];
  for (std::int64_t row = 0; row < 64; ++row) {
    columns[0].push_back({8 * row, 8 * row + 3});
    columns[1].push_back({8 * row + 3, 8 * row + 8});
  }
  const std::vector<ByteRange> whole{{0, 512}};
  auto gathering =
      *Gathering::make(whole, std::vector<std::span<const ByteRange>>{columns[0], columns[1]});
  EXPECT_EQ(gathering.of_strided(columns[0]), (std::vector<ByteRange>{{0, 1}}));
  EXPECT_EQ(gathering.of_strided(columns[1]), (std::vector<ByteRange>{{1, 2}}));
  EXPECT_EQ(gathering.of_contiguous({0, 512}), (ByteRange{0, 2}));
}

/// Runs of bytes below `bytes`, ascending and neither empty nor touching.
std::vector<ByteRange> random_runs(std::mt19937_64& random, std::int64_t bytes) {
  std::vector<ByteRange> runs;
  const auto step = [&] { return 1 + static_cast<std::int64_t>(random() % 4); };
  for (std::int64_t begin = step() - 1; begin < bytes;) {
    const std::int64_t end = std::min(begin + step(), bytes);
    runs.push_back({begin, end});
    begin = end + step();
  }
  return runs;
}

TEST(Gathering, PlacesAreWhatRegionsHoldAsAWhole) {
  constexpr std::int64_t kBytes = 40;
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<ByteRange>> regions(random() % 6);
    for (auto& runs : regions) runs = random_runs(random, kBytes);
    std::vector<ByteRange> contiguous;
    for (auto left = random() % 5; left > 0; --left) {
      const auto begin = static_cast<std::int64_t>(random() % kBytes);
      contiguous.push_back({begin, begin + 1 + static_cast<std::int64_t>(random() % 9)});
    }
    auto gathering = *Gathering::make(
        contiguous, std::vector<std::span<const ByteRange>>(regions.begin(), regions.end()));

    // By place: which regions hold it. By byte: which hold that.
    std::map<std::int64_t, std::set<std::size_t>> holders;
    std::map<std::int64_t, std::set<std::size_t>> wanted;
    const auto note = [&](std::size_t region, const auto& runs, const auto& places) {
      std::int64_t last = -1;
      for (const ByteRange& range : places) {
        EXPECT_LT(last, range.begin);
        EXPECT_LT(range.begin, range.end);
        last = range.end;
        for (std::int64_t k = range.begin; k < range.end; ++k) holders[k].insert(region);
      }
      for (const ByteRange& run : runs) {
        for (std::int64_t byte = run.begin; byte < run.end; ++byte) wanted[byte].insert(region);
      }
    };
    for (std::size_t k = 0; k < regions.size(); ++k) {
      note(k, regions[k], gathering.of_strided(regions[k]));
    }
    for (std::size_t k = 0; k < contiguous.size(); ++k) {
      note(100 + k, std::vector{contiguous[k]},
           std::vector{gathering.of_contiguous(contiguous[k])});
    }
    // The same sets of regions meet, none more and none less.
    std::set<std::set<std::size_t>> met;
    std::set<std::set<std::size_t>> meant;
    for (const auto& [place, regions_there] : holders) met.insert(regions_there);
    for (const auto& [byte, regions_there] : wanted) meant.insert(regions_there);
    EXPECT_EQ(met, meant) << "round " << round;
    EXPECT_LE(holders.size(), wanted.size());
  }
}

}  // namespace
}  // namespace memverify
