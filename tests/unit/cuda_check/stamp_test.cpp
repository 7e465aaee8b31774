#include "cuda_check/stamp.h"

#include <gtest/gtest.h>

#include <set>

namespace memverify::device {
namespace {

int equal_bytes(std::uint64_t a, std::uint64_t b) {
  int equal = 0;
  for (int j = 0; j < 8; ++j) equal += ((a ^ b) >> (8 * j) & 0xFFU) == 0 ? 1 : 0;
  return equal;
}

TEST(Stamp, AnyFourBytesTellTheAuthor) {
  // Two different authors share at most three bytes: so four of them name one.
  const std::uint32_t numbers[] = {0,      1,       2,       3,         255,        256,       257,
                                   0xFFFF, 0x10000, 0x10001, 0xFFFFFFU, 0x1000000U, 0x1234567, 77};
  for (const std::uint32_t a : numbers) {
    for (const std::uint32_t b : numbers) {
      if (a == b) continue;
      EXPECT_LE(equal_bytes(code_of(Author{a}), code_of(Author{b})), 3) << a << " " << b;
    }
  }
  for (std::uint32_t a = 0; a < 3000; ++a) {
    for (std::uint32_t b = a + 1; b < 3000; b += 97) {
      ASSERT_LE(equal_bytes(code_of(Author{a}), code_of(Author{b})), 1) << a << " " << b;
    }
  }
}

TEST(Stamp, EveryByteTellsApartTheFirst256Authors) {
  for (int j = 0; j < 8; ++j) {
    std::set<std::uint64_t> bytes;
    for (std::uint32_t a = 0; a < 256; ++a) bytes.insert(code_of(Author{a}) >> (8 * j) & 0xFFU);
    EXPECT_EQ(bytes.size(), 256U);
  }
}

TEST(Stamp, AuthorsNameTheirCommandAndWhatTheyLeft) {
  for (const std::uint32_t c : {0U, 1U, 63U, 20'000U}) {
    for (const Mark mark : {Mark::kValue, Mark::kUnfinished, Mark::kClobbered}) {
      const Author one = author(CommandId{c}, mark);
      EXPECT_EQ(command_of(one), CommandId{c});
      EXPECT_EQ(mark_of(one), mark);
    }
  }
  EXPECT_EQ(command_of(Author::kNobody), kNone<CommandId>);
  EXPECT_EQ(command_of(Author::kInitial), kNone<CommandId>);
}

TEST(Stamp, HalfAndWholeAmountsDifferInEveryByte) {
  for (std::uint32_t c = 0; c < 1000; ++c) {
    for (const std::uint32_t kind : {0U, 1U}) {
      const Amount amount = amount_of(CommandId{c}, kind);
      EXPECT_EQ(amount.half & ~update_mask(kind), 0U);
      EXPECT_EQ(amount.whole & ~update_mask(kind), 0U);
      EXPECT_EQ(equal_bytes(amount.half, 0), 0);
      EXPECT_EQ(equal_bytes(amount.whole, 0), 0);
      EXPECT_EQ(equal_bytes(amount.half, amount.whole), 0);
    }
  }
  EXPECT_EQ(update_mask(0) & update_mask(1), 0U);
}

TEST(Stamp, MasksCoverTheirBytes) {
  EXPECT_EQ(byte_mask(0, 8), ~std::uint64_t{0});
  EXPECT_EQ(byte_mask(0, 1), 0xFFU);
  EXPECT_EQ(byte_mask(7, 8), 0xFF00000000000000U);
  EXPECT_EQ(byte_mask(2, 4), 0xFFFF0000U);
}

TEST(Stamp, HashesOfAddressesDiffer) {
  std::set<std::uint64_t> hashes;
  for (std::uint32_t pool = 0; pool < 4; ++pool) {
    for (std::int64_t at = -4096; at < 4096; at += 8) hashes.insert(hash_of(PoolId{pool}, at));
  }
  EXPECT_EQ(hashes.size(), 4U * 1024U);
}

}  // namespace
}  // namespace memverify::device
