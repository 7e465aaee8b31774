// tools/style.h -- colours in reports.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

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

}  // namespace memverify
