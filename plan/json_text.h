// plan/json_text.h -- JSON text, put together piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace memverify {

/// Appends JSON to a string. Separators come by themselves: `next` or `key` before every value,
/// `open` and `close` around. Members of the document and entries of its lists (`open_lines`) get
/// lines of their own, everything else stands on the line of its owner.
class JsonText {
 public:
  void open(char bracket);
  void close(char bracket);
  void open_lines();  ///< An array with a line for each entry.
  void close_lines();
  void next();
  void key(std::string_view name);
  void value(std::int64_t integer);
  void value(std::string_view text);
  void raw(std::string_view json) { text_ += json; }

  template <typename T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  /// The names that `table` has for the ids of `list`, as an array.
  template <typename Table, typename List>
  void names(std::string_view name, const Table& table, const List& list) {
    key(name);
    open('[');
    for (const auto id : list) {
      next();
      value(table[id].name);
    }
    close(']');
  }
  void flag(std::string_view name, bool content);
  void pair(std::string_view name, std::int64_t first, std::int64_t second);

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool first_ = true;      ///< Nothing stands in the innermost bracket yet.
  int depth_ = 0;          ///< Open brackets.
  bool in_lines_ = false;  ///< Between open_lines and close_lines.
};

}  // namespace memverify
