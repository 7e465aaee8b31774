// tools/checksum.h -- whether a file that memverify wrote is as it was written.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace memverify {

/// 128 bits of `text`, in hexadecimal digits. Against damage and chance, not against malice.
inline std::string checksum(std::string_view text) {
  std::uint64_t a = 0x243F6A8885A308D3U;
  std::uint64_t b = 0x13198A2E03707344U ^ text.size();
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    a = (std::rotl(a, 23) ^ byte) * 0x9E3779B97F4A7C15U;
    b = (std::rotl(b, 41) + byte) * 0xC2B2AE3D27D4EB4FU;
    a ^= a >> 29U;
    b ^= b >> 32U;
  }
  std::string digits;
  for (const std::uint64_t half : {a, b}) {
    for (unsigned shift = 64; shift > 0; shift -= 4) {
      digits += "0123456789abcdef"[half >> (shift - 4) & 15U];
    }
  }
  return digits;
}

}  // namespace memverify
