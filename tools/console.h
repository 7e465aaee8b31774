// tools/console.h -- standard output and error: colours, and output that cannot be written.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "tools/exit_code.h"

namespace memverify {

/// Columns a text takes on a terminal, near enough: code points.
std::size_t columns_of(std::string_view utf8);

enum class ColorMode { kAuto, kAlways, kNever };

/// Marks pieces of text for a terminal; plain text when colours are off.
class Style {
 public:
  explicit Style(bool colors = false) : colors_(colors) {}
  /// kAuto: `stream` is a terminal, TERM is not "dumb" and NO_COLOR is not set to something.
  static Style of(ColorMode mode, std::FILE* stream);

  std::string error(std::string_view text) const { return mark("1;31", text); }
  std::string warning(std::string_view text) const { return mark("1;33", text); }
  std::string unproven(std::string_view text) const { return mark("1;35", text); }
  std::string good(std::string_view text) const { return mark("1;32", text); }
  std::string strong(std::string_view text) const { return mark("1", text); }
  std::string frame(std::string_view text) const { return mark("1;34", text); }
  bool colors() const noexcept { return colors_; }

 private:
  std::string mark(std::string_view code, std::string_view text) const;
  bool colors_;
};

/// Standard output. Remembers that something could not be written.
class StandardOutput {
 public:
  void write(std::string_view text);
  /// `code`; but kBadInput, with a message on standard error, when some of the output was lost. A
  /// reader that went away (`| head`) is no failure. Call once, at the end.
  ExitCode finish(ExitCode code);

 private:
  int error_ = 0;  ///< The first errno.
};

/// Writes to standard error; what cannot be written there is lost.
void write_error(std::string_view text);

}  // namespace memverify
