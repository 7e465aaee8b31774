// tools/hlo_text_cursor.h -- reading a line from the left.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace memverify {

class HloTextCursor {
 public:
  explicit HloTextCursor(std::string_view text) : text_(text) {}

  /// 1-based.
  std::size_t column() const { return at_ + 1; }
  std::string_view rest() const { return text_.substr(at_); }
  bool at_end() const { return at_ == text_.size(); }

  bool accept(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  /// The longest text without any of these characters.
  std::string_view until(std::string_view ends) {
    const std::string_view found = rest().substr(0, rest().find_first_of(ends));
    at_ += found.size();
    return found;
  }
  /// Skips up to and with `word`; false and nothing skipped if it does not come.
  bool skip_past(std::string_view word) {
    const std::size_t found = rest().find(word);
    if (found == std::string_view::npos) return false;
    at_ += found + word.size();
    return true;
  }
  /// Digits of a number below 2^63.
  std::optional<std::int64_t> number() {
    const std::string_view digits = rest();
    std::int64_t value = 0;
    if (digits.empty() || digits.front() < '0' || digits.front() > '9') return std::nullopt;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ += static_cast<std::size_t>(end - digits.data());
    return value;
  }
  /// "{}", "{1,0}".
  std::optional<std::vector<std::int64_t>> index() {
    std::vector<std::int64_t> index;
    if (!accept("{")) return std::nullopt;
    while (!accept("}")) {
      if (!index.empty() && !accept(",")) return std::nullopt;
      accept(" ");
      const std::optional<std::int64_t> which = number();
      if (!which) return std::nullopt;
      index.push_back(*which);
    }
    return index;
  }
  /// What opens here, up to where it closes: "(…)", "{…}", "[…]"; strings in quotes may hold
  /// anything. Empty if it does not close.
  std::string_view group() {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = at_; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quoted && c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && (c == '(' || c == '{' || c == '[')) {
        ++depth;
      } else if (!quoted && (c == ')' || c == '}' || c == ']') && (depth == 0 || --depth == 0)) {
        const std::string_view found = text_.substr(at_, i + 1 - at_);
        at_ = i + 1;
        return found;
      }
    }
    return {};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace memverify
