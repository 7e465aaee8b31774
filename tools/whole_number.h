// tools/whole_number.h -- numbers that users write.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memverify {

/// A decimal integer and nothing else.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace memverify
