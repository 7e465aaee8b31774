#include "verify/end_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace memverify {
namespace {

/// `addresses` sorted and numbered as `std::set` would.
void expect_right(const std::vector<std::int64_t>& addresses) {
  std::vector<std::int64_t> sorted = addresses;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const EndPoints points(addresses);
  ASSERT_EQ(points.sorted(), sorted);
  for (std::uint32_t k = 0; k < sorted.size(); ++k) EXPECT_EQ(points.number(sorted[k]), k);
}

TEST(EndPoints, AreTheSameOnEitherSideOfTwoWordsAnAddress) {
  std::mt19937_64 random(5);
  for (const std::int64_t count : {1, 64, 65, 100, 1000}) {
    for (const std::int64_t beyond : {-129, -1, 0, 1, 128}) {
      for (const std::int64_t step : {1, 4, 6, 256}) {
        const std::int64_t distance = std::max<std::int64_t>(128 * count + beyond, 1);
        std::vector<std::int64_t> addresses{0, distance};
        while (static_cast<std::int64_t>(addresses.size()) < count) {
          addresses.push_back(
              static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(distance)));
        }
        for (std::int64_t& address : addresses) address = (address - distance / 2) * step - 3;
        expect_right(addresses);
      }
    }
  }
}

TEST(EndPoints, MayLieAtBothEndsOfTheNumbers) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  expect_right({});
  std::vector<std::int64_t> addresses(100, std::numeric_limits<std::int64_t>::max());
  expect_right(addresses);
  addresses.resize(200, kLeast);
  expect_right(addresses);
  addresses.assign(100, kLeast);
  addresses.resize(200, 0);  // Half of all numbers lie between them.
  expect_right(addresses);
}

}  // namespace
}  // namespace memverify
