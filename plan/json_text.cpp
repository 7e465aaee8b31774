#include "plan/json_text.h"

#include <charconv>

namespace memverify {

void JsonText::open(char bracket) {
  text_ += bracket;
  first_ = true;
  ++depth_;
}

void JsonText::close(char bracket) {
  text_ += bracket;
  first_ = false;
  --depth_;
}

void JsonText::open_lines() {
  open('[');
  in_lines_ = true;
}

void JsonText::close_lines() {
  in_lines_ = false;
  text_ += "\n  ";
  close(']');
}

void JsonText::next() {
  if (depth_ == 1) {
    text_ += first_ ? "\n  " : ",\n  ";
  } else if (depth_ == 2 && in_lines_) {
    text_ += first_ ? "\n    " : ",\n    ";
  } else if (!first_) {
    text_ += ", ";
  }
  first_ = false;
}

void JsonText::key(std::string_view name) {
  next();
  value(name);
  text_ += ": ";
}

void JsonText::value(std::int64_t integer) {
  char digits[24];  // Holds every 64-bit integer.
  text_.append(digits, std::to_chars(digits, digits + sizeof digits, integer).ptr);
}

void JsonText::value(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  text_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (c == '\t') {
      text_ += "\\t";
    } else if (byte < 0x20) {
      text_ += "\\u00";
      text_ += kDigits[byte >> 4U];
      text_ += kDigits[byte & 15U];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonText::flag(std::string_view name, bool content) {
  key(name);
  text_ += content ? "true" : "false";
}

void JsonText::pair(std::string_view name, std::int64_t first, std::int64_t second) {
  key(name);
  open('[');
  next();
  value(first);
  next();
  value(second);
  close(']');
}

}  // namespace memverify
