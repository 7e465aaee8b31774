#include "tools/console.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

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

void StandardOutput::write(std::string_view text) {
  if (error_ != 0) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    error_ = errno == 0 ? EIO : errno;
  }
}

ExitCode StandardOutput::finish(ExitCode code) {
  if (error_ == 0 || error_ == EPIPE) return code;
  write_error("memverify: cannot write to standard output: " + std::string(std::strerror(error_)) +
              "\n");
  return ExitCode::kBadInput;
}

void write_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace memverify
