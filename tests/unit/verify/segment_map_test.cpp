#include "verify/segment_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace memverify {
namespace {

// The map against a plain array, on sizes around the boundaries of its levels.
TEST(SegmentMap, AgreesWithAPlainArray) {
  std::mt19937 random(1);
  for (std::size_t points : {1U, 63U, 64U, 65U, 200U, 4096U, 4097U, 10000U}) {
    SegmentMap<int> map(points, 0);
    std::vector<int> plain(points, 0);
    for (int step = 1; step < 400; ++step) {
      const std::size_t begin = random() % points;
      const std::size_t end =
          begin + 1 +
          random() %
              (random() % 4 == 0 ? points - begin : std::min<std::size_t>(points - begin, 5));
      if (step % 3 == 0) {
        map.assign(begin, end, step);
        std::fill(plain.begin() + static_cast<std::ptrdiff_t>(begin),
                  plain.begin() + static_cast<std::ptrdiff_t>(end), step);
      } else if (step % 3 == 1) {
        map.visit(begin, end, [&](std::size_t, std::size_t, int& state) { state += 1000; });
        for (std::size_t k = begin; k < end; ++k) plain[k] += 1000;
      }
      std::size_t next = begin;
      map.look(begin, end, [&](std::size_t low, std::size_t high, int state) {
        ASSERT_EQ(low, next);
        next = high;
        for (std::size_t k = low; k < high; ++k) ASSERT_EQ(plain[k], state);
      });
      ASSERT_EQ(next, end);
      if (const int* state = map.whole(begin, end); state != nullptr) {
        for (std::size_t k = begin; k < end; ++k) ASSERT_EQ(plain[k], *state);
      } else {
        ASSERT_GT(end - begin, 1U);
      }
    }
  }
}

TEST(SegmentMap, AssigningJoinsTheIntervals) {
  SegmentMap<int> map(100, 0);
  for (std::size_t k = 0; k < 100; ++k) map.assign(k, k + 1, 1);
  map.assign(10, 90, 2);
  int pieces = 0;
  map.look(10, 90, [&](std::size_t, std::size_t, int) { ++pieces; });
  EXPECT_EQ(pieces, 1);
  ASSERT_NE(map.whole(10, 90), nullptr);
  EXPECT_EQ(*map.whole(10, 90), 2);
  EXPECT_EQ(map.whole(9, 90), nullptr);
  EXPECT_EQ(map.whole(10, 91), nullptr);
}

TEST(SegmentMap, MayBeginInPieces) {
  const auto starts = [](auto&& visit) {
    for (std::size_t point : {0U, 3U, 64U}) visit(point);
  };
  SegmentMap<int> map(100, 7, starts);
  std::vector<std::size_t> ends;
  map.look(0, 100, [&](std::size_t, std::size_t end, int state) {
    EXPECT_EQ(state, 7);
    ends.push_back(end);
  });
  EXPECT_EQ(ends, (std::vector<std::size_t>{3, 64, 100}));
  map.assign(2, 4, 8);
  EXPECT_EQ(*map.whole(0, 2), 7);
  EXPECT_EQ(*map.whole(4, 64), 7);
}

}  // namespace
}  // namespace memverify
