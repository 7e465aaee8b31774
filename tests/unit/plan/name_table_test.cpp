#include "plan/name_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memverify {
namespace {

TEST(NameTable, GivesEqualStringsEqualIds) {
  NameTable names;
  const StringId a = names.intern("a");
  EXPECT_EQ(index(a), 0U);
  EXPECT_EQ(index(names.intern("")), 1U);
  EXPECT_EQ(index(names.intern(std::string_view("a\0", 2))), 2U);
  EXPECT_EQ(names.intern(std::string("a")), a);
  EXPECT_EQ(names.intern(""), StringId{1});
  EXPECT_EQ(names.size(), 3U);
  EXPECT_EQ(names.text(StringId{2}).size(), 2U);
}

TEST(NameTable, KeepsEveryTextThroughGrowthAndBeyondItsOwnLife) {
  std::vector<std::string_view> texts;
  std::shared_ptr<const NameArena> arena;
  {
    NameTable names;
    for (int i = 0; i < 50'000; ++i) {
      const std::string text = "layer_" + std::to_string(i) + "/output";
      const StringId id = names.intern(text);
      ASSERT_EQ(index(id), static_cast<std::uint32_t>(i));
      texts.push_back(names.text(id));
    }
    for (int i = 0; i < 50'000; ++i) {
      ASSERT_EQ(index(names.intern(texts[static_cast<std::size_t>(i)])),
                static_cast<std::uint32_t>(i));
    }
    arena = names.arena();
  }
  EXPECT_EQ(texts[49'999], "layer_49999/output");
}

TEST(NameTable, StoresAStringLongerThanAChunk) {
  NameTable names;
  const std::string text(1'000'000, 'x');
  const StringId id = names.intern(text);
  names.intern("after");
  EXPECT_EQ(names.text(id), text);
  EXPECT_EQ(names.intern(text), id);
}

TEST(NameTable, KeepsItsNamesWhenItReserves) {
  NameTable names;
  const StringId a = names.intern("a");
  names.reserve(100'000);
  EXPECT_EQ(names.intern("a"), a);
  EXPECT_EQ(names.size(), 1U);
}

TEST(NameTable, TellsApartNamesThatLookAlike) {
  // Lengths around a word, equal beginnings and ends, letters that count as the same digits.
  std::vector<std::string> texts = {""};
  for (const char* end : {"ak", "ba", "21", "k1", "\x01q", "zz0000"}) {
    for (std::size_t size = 0; size < 20; ++size) {
      texts.push_back(std::string(size, 'x') + end);
      texts.push_back("y" + texts.back());
      texts.push_back(std::string(size + 1, '\0') + end);
    }
  }
  NameTable names;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(index(names.intern(texts[i])), i) << texts[i];
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(index(names.intern(texts[i])), i) << texts[i];
    EXPECT_EQ(names.text(static_cast<StringId>(i)), texts[i]);
  }
}

}  // namespace
}  // namespace memverify
