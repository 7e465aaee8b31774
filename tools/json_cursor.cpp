#include "tools/json_cursor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "plan/words.h"

namespace memverify {

namespace {

constexpr std::size_t kMaxErrors = 100;

/// "[json.exception.parse_error.101] parse error at line 1, column 2: why" -> "why".
std::string reason(std::string_view what) {
  const std::size_t colon = what.find(": ");
  return std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

/// `key` as one step of a JSON pointer (RFC 6901).
std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::optional<nlohmann::json> parse_json(std::string_view text, std::string_view file,
                                         std::vector<Diagnostic>& errors) {
  Diagnostic error{.id = "json.syntax", .file = std::string(file)};
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    error.message = reason(e.what());
    const std::string_view before = text.substr(0, e.byte > 0 ? e.byte - 1 : 0);
    error.line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    error.column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  } catch (const nlohmann::json::exception& e) {  // a number beyond the range of a double
    error.message = reason(e.what());
  }
  errors.push_back(std::move(error));
  return std::nullopt;
}

JsonCursor JsonCursor::child(const nlohmann::json* value, std::string key) const {
  JsonCursor cursor = *this;
  cursor.value_ = value;
  cursor.pointer_ += "/" + escaped(key);
  cursor.key_ = std::move(key);
  return cursor;
}

void JsonCursor::fail(std::string_view id, std::string message) const {
  if (value_ == nullptr || errors_->size() >= kMaxErrors) return;
  errors_->push_back({.id = std::string(id),
                      .message = std::move(message),
                      .pointer = pointer_,
                      .file = std::string(file_)});
}

bool JsonCursor::expect(bool fits, std::string_view what) const {
  if (!fits && value_ != nullptr) {
    fail("import.type", "expected " + std::string(what) + ", found " +
                            (value_->is_number() ? value_->dump() : value_->type_name()));
  }
  return fits;
}

bool JsonCursor::has(std::string_view key) const {
  return value_ != nullptr && value_->is_object() && value_->contains(key);
}

JsonCursor JsonCursor::operator[](std::string_view key) const {
  const nlohmann::json* found = nullptr;
  if (expect(value_ != nullptr && value_->is_object(), "an object")) {
    const auto member = value_->find(key);
    if (member != value_->end()) {
      found = &*member;
    } else {
      fail("import.missing", "no " + memverify::quoted(key) + " here");
    }
  }
  return child(found, std::string(key));
}

std::vector<JsonCursor> JsonCursor::items() const {
  std::vector<JsonCursor> out;
  if (!expect(value_ != nullptr && value_->is_array(), "an array")) return out;
  out.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    out.push_back(child(&(*value_)[i], std::to_string(i)));
  }
  return out;
}

std::vector<JsonCursor> JsonCursor::members() const {
  std::vector<JsonCursor> out;
  if (!expect(value_ != nullptr && value_->is_object(), "an object")) return out;
  out.reserve(value_->size());
  for (const auto& [key, value] : value_->items()) out.push_back(child(&value, key));
  return out;
}

std::string JsonCursor::text() const {
  return expect(value_ != nullptr && value_->is_string(), "a string") ? value_->get<std::string>()
                                                                      : std::string();
}

bool JsonCursor::boolean() const {
  return expect(value_ != nullptr && value_->is_boolean(), "a Boolean") && value_->get<bool>();
}

std::int64_t JsonCursor::integer(std::int64_t min) const {
  if (!expect(value_ != nullptr && value_->is_number_integer(), "an integer")) return min;
  const bool too_large =
      value_->is_number_unsigned() &&
      std::cmp_greater(value_->get<std::uint64_t>(), std::numeric_limits<std::int64_t>::max());
  if (too_large || value_->get<std::int64_t>() < min) {
    fail("import.range", "expected an integer from " + std::to_string(min) +
                             " to 2^63 - 1, found " + value_->dump());
    return min;
  }
  return value_->get<std::int64_t>();
}

}  // namespace memverify
