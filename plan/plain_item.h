// plan/plain_item.h -- one plain item, read by functions that the tables of its keys are made into.
//
// Problem: to walk a table costs a call for each slot, a `Slot` in memory and a loop for each key.
// Idea: the tables are constants, so that `plain_object<kOp>` becomes what one would write by hand
//   for an op: keys are compared with their place in the text, in the order of the table, and each
//   value is stored where it belongs.
// Each function takes the place in the text where it begins and returns the one behind, or nullptr
// where something is not plain. Included by the files that hold the tables.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "plan/json_events.h"
#include "plan/reader_fields.h"

namespace memverify {

/// Skips blanks, but none from `limit` on.
const char* skip_blanks(const char* at, const char* limit);

const char* plain_integer(const char* at, std::int64_t& target);

[[gnu::always_inline]] inline const char* next_token(const char* at, const char* limit) {
  if (static_cast<unsigned char>(*at) > ' ') return at;
  return *at == ' ' && static_cast<unsigned char>(at[1]) > ' ' ? at + 1 : skip_blanks(at, limit);
}

/// At a quote.
inline const char* plain_string(const char* at, const char* limit, std::string_view& target) {
  const char* const begin = at + 1;
  const char* const end = skip_plain(begin, limit);
  if (*end != '"') return nullptr;
  target = {begin, static_cast<std::size_t>(end - begin)};
  return end + 1;
}

[[gnu::always_inline]] inline const char* plain_literal(const char* at, std::string_view text,
                                                        bool value, bool& target) {
  if (std::string_view(at, text.size()) != text) return nullptr;
  target = value;
  return at + text.size();
}

/// A value that `slot` may have.
[[gnu::always_inline]] inline const char* plain_value(const char* at, const char* limit,
                                                      PlanFields& fields, const Slot& slot) {
  at = next_token(at, limit);
  if (slot.string != nullptr && *at == '"') {
    at = plain_string(at, limit, *slot.string);
    return slot.may_be_empty || !slot.string->empty() ? at : nullptr;
  }
  if (slot.plain_object != nullptr && *at == '{') return slot.plain_object(at, limit, fields);
  if (slot.plain_list != nullptr && *at == '[') return slot.plain_list(at, limit, fields);
  if (slot.boolean != nullptr) {
    return *at == 't' ? plain_literal(at, "true", true, *slot.boolean)
                      : plain_literal(at, "false", false, *slot.boolean);
  }
  if (slot.integer != nullptr) return plain_integer(at, *slot.integer);
  if (slot.expr == nullptr) return nullptr;
  if (*at == '"') {
    std::string_view text;
    at = plain_string(at, limit, text);
    *slot.expr = text;
    return at;
  }
  std::int64_t read = 0;
  at = plain_integer(at, read);
  *slot.expr = read;
  return at;
}

/// Runs a hook; false where it finds something wrong.
[[gnu::always_inline]] inline bool passes(Hook hook, PlanFields& fields) {
  if (hook == nullptr) return true;
  hook(fields);
  if (fields.fault.empty()) return true;
  fields.fault.clear();
  return false;
}

template <const ListFields& kList>
const char* plain_list(const char* at, const char* limit, PlanFields& fields) {
  std::size_t index = 0;
  at = next_token(at + 1, limit);
  if (*at != ']') {
    for (;; ++at) {
      if (at >= limit || (kList.max != kNoLimit && index == kList.max)) return nullptr;
      at = plain_value(at, limit, fields, kList.element(fields, index));
      if (at == nullptr || !passes(kList.after, fields)) return nullptr;
      ++index;
      at = next_token(at, limit);
      if (*at != ',') break;
    }
  }
  return *at == ']' && index >= kList.min ? at + 1 : nullptr;
}

/// What is left to do with an object.
enum class Keys : std::uint8_t { kMore, kDone, kNotPlain };

/// Reads key `k` of the table with its value and the comma behind it, if it stands here.
template <const ObjectFields& kObject, std::size_t k>
[[gnu::always_inline]] inline Keys plain_field(const char*& at, const char* limit,
                                               PlanFields& fields, std::uint32_t& seen) {
  constexpr const Field& kField = kObject.fields[k];
  constexpr std::uint32_t kBit = std::uint32_t{1} << k;
  constexpr std::size_t kSize = kField.key.size();
  if (std::memcmp(at + 1, kField.key.data(), kSize) != 0 || at[kSize + 1] != '"')
    return Keys::kMore;
  if ((seen & kBit) != 0) return Keys::kNotPlain;
  seen |= kBit;
  at = next_token(at + kSize + 2, limit);
  if (*at != ':') return Keys::kNotPlain;
  at = plain_value(at + 1, limit, fields, kField.slot(fields));
  if (at == nullptr || !passes(kField.after, fields)) return Keys::kNotPlain;
  at = next_token(at, limit);
  if (*at == '}') return Keys::kDone;
  if (*at != ',') return Keys::kNotPlain;
  at = next_token(at + 1, limit);
  return *at == '"' && at < limit ? Keys::kMore : Keys::kNotPlain;
}

/// Reads the keys that follow each other here as they do in the table.
template <const ObjectFields& kObject, std::size_t... k>
[[gnu::always_inline]] inline Keys plain_fields(const char*& at, const char* limit,
                                                PlanFields& fields, std::uint32_t& seen,
                                                std::index_sequence<k...>) {
  Keys left = Keys::kMore;
  static_cast<void>(
      (((left = plain_field<kObject, k>(at, limit, fields, seen)) == Keys::kMore) && ...));
  return left;
}

/// An object with known keys.
template <const ObjectFields& kObject>
const char* plain_object(const char* at, const char* limit, PlanFields& fields) {
  std::uint32_t seen = 0;
  at = next_token(at + 1, limit);
  if (*at != '}') {
    if (*at != '"' || at >= limit) return nullptr;
    for (Keys left = Keys::kMore; left != Keys::kDone;) {
      const std::uint32_t before = seen;
      left = plain_fields<kObject>(at, limit, fields, seen,
                                   std::make_index_sequence<kObject.fields.size()>());
      if (left == Keys::kNotPlain || seen == before) return nullptr;
    }
  }
  if ((seen & kObject.required) != kObject.required || !passes(kObject.end, fields)) return nullptr;
  return at + 1;
}

/// A map from ids; a long one is not plain.
template <const ObjectFields& kMap>
const char* plain_map(const char* at, const char* limit, PlanFields& fields) {
  std::array<std::string_view, 4> keys;
  std::size_t entries = 0;
  at = next_token(at + 1, limit);
  if (*at == '}') return at + 1;
  for (;; ++at) {
    at = next_token(at, limit);
    if (*at != '"' || at >= limit || entries == keys.size()) return nullptr;
    std::string_view& key = keys[entries];
    at = plain_string(at, limit, key);
    const auto known = keys.begin() + entries++;
    if (at == nullptr || key.empty() || std::find(keys.begin(), known, key) != known)
      return nullptr;
    at = next_token(at, limit);
    if (*at != ':') return nullptr;
    at = plain_value(at + 1, limit, fields, kMap.entry(fields, key));
    if (at == nullptr || !passes(kMap.after_entry, fields)) return nullptr;
    at = next_token(at, limit);
    if (*at != ',') return *at == '}' ? at + 1 : nullptr;
  }
}

}  // namespace memverify
