#include "tools/style.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace memverify {

std::size_t columns_of(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

Style Style::of(ColorMode mode, std::FILE* stream) {
  if (mode != ColorMode::kAuto) return Style(mode == ColorMode::kAlways);
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return Style(false);
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return Style(false);
  return Style(isatty(fileno(stream)) == 1);
}

std::string Style::mark(std::string_view code, std::string_view text) const {
  if (!colors_) return std::string(text);
  std::string out = "\x1b[";
  out += code;
  out += 'm';
  out += text;
  return out + "\x1b[0m";
}

}  // namespace memverify
