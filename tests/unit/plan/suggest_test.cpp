#include "plan/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace memverify {
namespace {

TEST(EditDistance, CountsInsertedRemovedAndReplacedBytes) {
  EXPECT_EQ(edit_distance("kitten", "sitting", 9), 3U);
  EXPECT_EQ(edit_distance("sitting", "kitten", 9), 3U);
  EXPECT_EQ(edit_distance("", "abc", 9), 3U);
  EXPECT_EQ(edit_distance("abc", "abc", 0), 0U);
}

TEST(EditDistance, StopsAtTheLimit) {
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3U);
  EXPECT_EQ(edit_distance("a", "abcdefgh", 2), 3U);
  const std::string longer(1000, 'x');
  EXPECT_EQ(edit_distance(longer, longer, 2), 0U);
  EXPECT_EQ(edit_distance(longer, longer.substr(1), 2), 3U);
}

std::string hint_for(std::string_view word) {
  constexpr std::array<std::string_view, 4> kWords = {"serial", "issue", "none", "host"};
  return did_you_mean(word, kWords);
}

TEST(Suggest, NamesTheNearestWord) {
  EXPECT_EQ(hint_for("seriel"), "; did you mean `serial`?");
  EXPECT_EQ(hint_for("hosts"), "; did you mean `host`?");
  EXPECT_EQ(hint_for("on"), "");
  EXPECT_EQ(hint_for("parallel"), "");
}

TEST(Suggest, PrefersTheFirstOfEquals) {
  constexpr std::array<std::string_view, 3> kWords = {"q10", "q1", "q2"};
  EXPECT_EQ(did_you_mean("q3", kWords), "; did you mean `q1`?");
}

TEST(Suggest, DoesNotTakeAWordThatSharesNothingForATypingError) {
  constexpr std::array<std::string_view, 1> kWords = {"x"};
  EXPECT_EQ(did_you_mean("y", kWords), "");
}

}  // namespace
}  // namespace memverify
