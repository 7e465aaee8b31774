#include "tools/diagnostics.h"

#include <algorithm>
#include <utility>

#include "plan/json_places.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kBefore = 60;  ///< Bytes of the line shown before the column …
constexpr std::size_t kAfter = 40;   ///< … and from it on.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool continues_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Line and column of what only a JSON pointer places. Diagnostics come in any order.
void find_missing_places(std::vector<Diagnostic>& diagnostics, std::string_view text) {
  if (text.empty()) return;
  std::vector<std::string> pointers;
  std::vector<Diagnostic*> missing;
  for (Diagnostic& d : diagnostics) {
    if (d.line != 0 || d.pointer.empty()) continue;
    pointers.push_back(d.pointer);
    missing.push_back(&d);
  }
  if (missing.empty()) return;
  std::vector<std::pair<std::size_t, Diagnostic*>> places;
  const std::vector<std::size_t> offsets = find_places(text, pointers);
  for (std::size_t i = 0; i < missing.size(); ++i) places.emplace_back(offsets[i], missing[i]);
  std::ranges::stable_sort(places, {}, [](const auto& place) { return place.first; });
  std::vector<std::size_t> ascending;
  for (const auto& place : places) ascending.push_back(place.first);
  const std::vector<LineColumn> lines = find_lines(text, ascending);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].second->line = lines[i].line;
    places[i].second->column = lines[i].column;
  }
}

/// Walks through the lines of a text, forwards.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text)
      : text_(text), begin_(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0) {}

  /// Line `number` >= 1 with what follows it; numbers given must not descend.
  std::string_view from_line(std::size_t number) {
    while (line_ < number) {
      const std::size_t newline = text_.find('\n', begin_);
      if (newline == std::string_view::npos) return {};
      begin_ = newline + 1;
      ++line_;
    }
    return text_.substr(begin_);
  }

 private:
  std::string_view text_;
  std::size_t begin_;
  std::size_t line_ = 1;
};

void add_excerpt(InputError& error, std::string_view rest) {
  const std::size_t at = error.diagnostic.column - 1;
  if (at > rest.size()) return;
  const std::size_t first = at > kBefore ? at - kBefore : 0;
  error.before = rest.substr(first, at - first);
  error.cut = first > 0;
  while (error.cut && !error.before.empty() && continues_code_point(error.before.front())) {
    error.before.erase(0, 1);
  }
  const std::string_view after = rest.substr(at);
  const std::size_t end = std::min(after.find_first_of("\r\n"), after.size());
  std::size_t length = std::min(end, kAfter);
  while (length < end && length > 0 && continues_code_point(after[length])) --length;
  error.after = after.substr(0, length);
}

std::string clean(std::string text) {
  std::ranges::replace(text, '\t', ' ');
  return printable(text);
}

std::string excerpt_lines(const InputError& error, const Style& style) {
  const std::string number = std::to_string(error.diagnostic.line);
  const std::string margin(number.size(), ' ');
  const std::string before = (error.cut ? "…" : "") + clean(error.before);
  return margin + " " + style.frame("|") + "\n" + style.frame(number + " |") + " " + before +
         clean(error.after) + "\n" + margin + " " + style.frame("|") + " " +
         std::string(columns_of(before), ' ') + style.error("^") + "\n";
}

}  // namespace

std::vector<InputError> with_excerpts(std::vector<Diagnostic> diagnostics, std::string_view text,
                                      std::string_view file) {
  find_missing_places(diagnostics, text);
  std::vector<InputError> errors;
  for (Diagnostic& d : diagnostics) {
    if (d.file.empty()) d.file = file;
    errors.push_back({.diagnostic = std::move(d)});
  }
  std::vector<InputError*> by_line;
  for (InputError& error : errors) {
    if (error.diagnostic.column != 0) by_line.push_back(&error);
  }
  const auto line = [](const InputError* error) { return error->diagnostic.line; };
  std::ranges::stable_sort(by_line, {}, line);
  LineCursor cursor(text);
  for (InputError* error : by_line) add_excerpt(*error, cursor.from_line(line(error)));
  return errors;
}

std::string text_errors(std::span<const InputError> errors, const Style& style) {
  std::string out;
  for (const InputError& error : errors) {
    const Diagnostic& d = error.diagnostic;
    out += style.error("error[" + d.id + "]") + style.strong(": " + printable(d.message)) + "\n";
    std::string where = printable(d.file);
    if (d.line != 0) where += ":" + std::to_string(d.line);
    if (d.column != 0) where += ":" + std::to_string(d.column);
    if (!d.pointer.empty()) where += (where.empty() ? "at " : ", at ") + printable(d.pointer);
    if (!where.empty()) out += "  " + style.frame("-->") + " " + where + "\n";
    if (!error.before.empty() || !error.after.empty()) out += excerpt_lines(error, style);
    out += "\n";
  }
  return out;
}

}  // namespace memverify
