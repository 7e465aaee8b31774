// cuda_check/stamp.h -- the sentinels: what the words of memory hold instead of numbers.
//
// Problem: whoever finds a wrong word, or one byte of it, wants to know who wrote it; and a word
//   that was carried to another address, or is half of one writer and half of another, must not
//   pass.
// Idea: a writer's number is a polynomial of degree 3 over the field of 256 elements, its code the
// 8
//   values at 8 points (a Reed-Solomon code), and the word at an address the code XOR a hash of the
//   address. Any 4 bytes of a word then tell the writer; every byte tells apart writers whose
//   numbers differ in the lowest 8 bits alone, and two bytes those that differ in the lowest 16.
//   Accumulates add a pattern without carry (XOR), so that each byte stays by itself: their
//   patterns live in two bits of each byte, which two for the updates of its own kind; absent, half
//   added and added whole are three different values there.
// Tested by tests/unit/cuda_check/stamp_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda_check/calls.h"
#include "plan/region.h"

namespace memverify::device {

inline constexpr std::int64_t kWordBytes = 8;

/// Who wrote a word.
enum class Author : std::uint32_t {
  kNobody,   ///< The pattern of memory that nothing has written.
  kInitial,  ///< Inputs and constants.
};

/// What a command may have left: a value, one that is not complete yet, or one that nobody may
/// want.
enum class Mark : std::uint8_t { kValue, kUnfinished, kClobbered };

constexpr Author author(CommandId command, Mark mark) {
  return static_cast<Author>(4 * (index(command) + 1) + static_cast<std::uint32_t>(mark));
}
/// kNone for kNobody and kInitial.
constexpr CommandId command_of(Author author) {
  const auto number = static_cast<std::uint32_t>(author);
  return number < 4 ? kNone<CommandId> : CommandId{number / 4 - 1};
}
constexpr Mark mark_of(Author author) {
  return static_cast<Mark>(static_cast<std::uint32_t>(author) % 4);
}

/// The code of an author: what its words have in common.
std::uint64_t code_of(Author author);

/// The hash of the word that holds the bytes [8 n, 8 n + 8) of a pool; `address` is 8 n.
constexpr std::uint64_t hash_of(PoolId pool, std::int64_t address) {
  std::uint64_t h = static_cast<std::uint64_t>(address) / 8 +
                    (std::uint64_t{index(pool)} + 1) * 0x9E3779B97F4A7C15U;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
  return h ^ (h >> 31);
}

/// Bits of a word that updates of kind `kind` change; only kinds that differ by an even number
/// share them.
constexpr std::uint64_t update_mask(std::uint32_t kind) {
  return kind % 2 == 0 ? 0x0303030303030303U : 0x0C0C0C0C0C0C0C0CU;
}

/// What an accumulate adds on entry, and what it has added when it leaves.
struct Amount {
  std::uint64_t half = 0;
  std::uint64_t whole = 0;
};
Amount amount_of(CommandId command, std::uint32_t kind);

/// The bits of the bytes [begin, end) of a word, 0 <= begin < end <= 8; byte 0 is the lowest.
constexpr std::uint64_t byte_mask(std::int64_t begin, std::int64_t end) {
  const std::uint64_t below =
      end == kWordBytes ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * end)) - 1;
  return below & (~std::uint64_t{0} << (8 * begin));
}

/// The bits of `bytes` in the word at `address`.
inline std::uint64_t mask_in(ByteRange bytes, std::int64_t address) {
  return byte_mask(std::clamp<std::int64_t>(bytes.begin - address, 0, kWordBytes - 1),
                   std::clamp<std::int64_t>(bytes.end - address, 1, kWordBytes));
}

}  // namespace memverify::device
