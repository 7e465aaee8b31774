#include "cuda_check/stamp.h"

namespace memverify::device {
namespace {

/// Product in the field of 256 elements with x^8 + x^4 + x^3 + x^2 + 1.
constexpr std::uint8_t times(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0;
  unsigned shifted = a;
  for (unsigned bits = b; bits != 0; bits >>= 1) {
    if ((bits & 1U) != 0) product ^= shifted;
    shifted <<= 1;
    if ((shifted & 0x100U) != 0) shifted ^= 0x11DU;
  }
  return static_cast<std::uint8_t>(product);
}

constexpr std::uint64_t scrambled(std::uint64_t h) {
  h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCDU;
  h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53U;
  return h ^ (h >> 33);
}

/// So that the bits that differ first, between marks and neighbours, are those that updates leave
/// alone.
constexpr std::uint32_t with_reversed_low_byte(std::uint32_t number) {
  std::uint32_t low = 0;
  for (unsigned k = 0; k < 8; ++k) low |= (number >> k & 1U) << (7 - k);
  return (number & ~0xFFU) | low;
}

}  // namespace

std::uint64_t code_of(Author author) {
  const std::uint32_t number = with_reversed_low_byte(static_cast<std::uint32_t>(author));
  std::uint64_t code = 0;
  for (unsigned j = 0; j < 8; ++j) {
    // At the points 1, 2, 4, …: by Horner from the highest byte of the number.
    std::uint8_t value = 0;
    for (int k = 3; k >= 0; --k) {
      value = static_cast<std::uint8_t>(times(value, static_cast<std::uint8_t>(1U << j)) ^
                                        (number >> (8 * k) & 0xFFU));
    }
    code |= std::uint64_t{value} << (8 * j);
  }
  return code;
}

Amount amount_of(CommandId command, std::uint32_t kind) {
  // Two bits a byte: the half is 1, 2 or 3, the whole one of the two others.
  const std::uint64_t h = scrambled(std::uint64_t{index(command)} + 1);
  const unsigned shift = kind % 2 == 0 ? 0 : 2;
  Amount amount;
  for (unsigned j = 0; j < 8; ++j) {
    const std::uint64_t choice = (h >> (8 * j) & 0xFFU) % 6;
    const std::uint64_t half = choice % 3 + 1;
    const std::uint64_t whole = (half + choice / 3) % 3 + 1;
    amount.half |= half << (8 * j + shift);
    amount.whole |= whole << (8 * j + shift);
  }
  return amount;
}

}  // namespace memverify::device
