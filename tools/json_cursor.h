// tools/json_cursor.h -- reading a JSON document that need not be what it should be.
//
// A cursor stands on one value and knows its JSON pointer. What is missing or of the wrong type is
// reported once, there; everything below it then reads as empty, so that one fault gives one
// diagnostic and the independent faults are all found. Only for documents small enough for a tree.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"

namespace memverify {

/// The tree of `text`; or nullopt and a "json.syntax" error with line and column.
std::optional<nlohmann::json> parse_json(std::string_view text, std::string_view file,
                                         std::vector<Diagnostic>& errors);

/// A value, cheap to copy. The document and the list of errors must outlive it.
class JsonCursor {
 public:
  JsonCursor(const nlohmann::json& document, std::string_view file, std::vector<Diagnostic>& errors)
      : value_(&document), file_(file), errors_(&errors) {}

  /// The member `key`; reports "import.missing" when there is none, "import.type" on a non-object.
  JsonCursor operator[](std::string_view key) const;
  bool has(std::string_view key) const;
  /// The elements of an array; reports "import.type" on anything else.
  std::vector<JsonCursor> items() const;
  /// The members of an object, by key; reports "import.type" on anything else.
  std::vector<JsonCursor> members() const;
  /// The key under which `operator[]` or `members` found this value.
  const std::string& key() const { return key_; }

  /// The value; reports "import.type" and returns "", false or 0 on another type. An integer below
  /// `min`, or beyond 64 bits, is "import.range" and reads as `min`.
  std::string text() const;
  bool boolean() const;
  std::int64_t integer(std::int64_t min) const;

  /// Reports a fault of this value, unless it was reported that there is none.
  void fail(std::string_view id, std::string message) const;

 private:
  JsonCursor child(const nlohmann::json* value, std::string key) const;
  bool expect(bool fits, std::string_view what) const;

  const nlohmann::json* value_;  ///< nullptr: already reported.
  std::string_view file_;
  std::string pointer_;
  std::string key_;
  std::vector<Diagnostic>* errors_;
};

}  // namespace memverify
