#include "tools/diagnostics.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kBefore = 60;  ///< Bytes of the line shown before the column …
constexpr std::size_t kAfter = 40;   ///< … and from it on.

struct Place {
  std::size_t line;
  std::size_t column;
  auto operator<=>(const Place&) const = default;
};

/// The part of a line around one column.
struct Excerpt {
  std::string before;
  std::string after;
};

bool is_regular_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// The excerpts at `places`, which are ascending: one pass over the file in blocks, so that a plan
/// of one line of gigabytes is no trouble.
std::map<Place, Excerpt> read_excerpts(const std::string& path, const std::vector<Place>& places) {
  std::map<Place, Excerpt> excerpts;
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      is_regular_file(path) ? std::fopen(path.c_str(), "rb") : nullptr, close);
  if (file == nullptr) return excerpts;
  std::size_t line = 1;
  std::size_t column = 0;
  std::size_t first = 0;  // Of the places whose excerpt may still grow.
  for (int byte = getc_unlocked(file.get()); byte != EOF && first < places.size();
       byte = getc_unlocked(file.get())) {
    if (byte == '\n') {
      ++line;
      column = 0;
      while (first < places.size() && places[first].line < line) ++first;
      continue;
    }
    ++column;
    for (std::size_t i = first; i < places.size() && places[i].line == line; ++i) {
      const Place& at = places[i];
      if (column + kBefore < at.column || byte == '\r') break;  // Later places are further right.
      if (column < at.column) {
        excerpts[at].before += static_cast<char>(byte);
      } else if (column < at.column + kAfter) {
        excerpts[at].after += static_cast<char>(byte);
      } else if (i == first) {
        ++first;
      }
    }
  }
  return excerpts;
}

/// Columns a text takes on a terminal, near enough: code points.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string clean(std::string text) {
  std::ranges::replace(text, '\t', ' ');
  return printable(text);
}

std::string excerpt_lines(const Excerpt& excerpt, const Place& at, const Style& style) {
  const std::string number = std::to_string(at.line);
  const std::string margin(number.size(), ' ');
  const bool cut = at.column > excerpt.before.size() + 1;
  const std::string before = (cut ? "…" : "") + clean(excerpt.before);
  return margin + " " + style.frame("|") + "\n" + style.frame(number + " |") + " " + before +
         clean(excerpt.after) + "\n" + margin + " " + style.frame("|") + " " +
         std::string(width(before), ' ') + style.error("^") + "\n";
}

}  // namespace

std::string text_diagnostics(std::span<const Diagnostic> diagnostics, const Style& style) {
  std::map<std::string, std::vector<Place>> places;
  for (const Diagnostic& d : diagnostics) {
    if (d.line != 0 && d.column != 0) places[d.file].push_back({d.line, d.column});
  }
  std::map<std::string, std::map<Place, Excerpt>> excerpts;
  for (auto& [file, list] : places) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
    excerpts[file] = read_excerpts(file, list);
  }
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    out += style.error("error[" + d.id + "]") + style.strong(": " + printable(d.message)) + "\n";
    std::string where = printable(d.file);
    if (d.line != 0) where += ":" + std::to_string(d.line);
    if (d.line != 0 && d.column != 0) where += ":" + std::to_string(d.column);
    if (!d.pointer.empty()) where += (where.empty() ? "at " : ", at ") + printable(d.pointer);
    if (!where.empty()) out += "  " + style.frame("-->") + " " + where + "\n";
    const Place at{d.line, d.column};
    const auto file = excerpts.find(d.file);
    if (file != excerpts.end()) {
      if (const auto found = file->second.find(at); found != file->second.end()) {
        out += excerpt_lines(found->second, at, style);
      }
    }
    out += "\n";
  }
  return out;
}

}  // namespace memverify
