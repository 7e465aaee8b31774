#include "plan/plain_items.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "plan/json_events.h"

namespace memverify {
namespace {

/// One item. Every function returns false where something is not plain, and the item is given up.
class PlainItem {
 public:
  PlainItem(const char* at, const char* end, PlanFields& fields)
      : at_(at), end_(end), fields_(fields) {}

  const char* at() const { return at_; }

  bool takes(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  bool value(const Slot& slot) {
    switch (peek()) {
      case '"':
        return word(slot);
      case '{':
        return slot.object != nullptr && object(*slot.object);
      case '[':
        return slot.list != nullptr && list(*slot.list);
      case 't':
        return literal("true", true, slot);
      case 'f':
        return literal("false", false, slot);
      default:
        return number(slot);
    }
  }

 private:
  /// The first character from here on that is no blank; NUL at the end.
  char peek() {
    for (; at_ != end_; ++at_) {
      if (static_cast<unsigned char>(*at_) > ' ') return *at_;
      if (*at_ != ' ' && *at_ != '\n' && *at_ != '\r' && *at_ != '\t') return '\0';
    }
    return '\0';
  }

  static bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  }

  bool string(std::string_view& target) {
    const char* const begin = ++at_;
    at_ = skip_plain(at_, end_);
    while (at_ != end_ && is_plain(*at_)) ++at_;
    if (at_ == end_ || *at_ != '"') return false;
    target = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  bool word(const Slot& slot) {
    std::string_view text;
    if (!string(text)) return false;
    if (slot.string != nullptr) {
      if (text.empty() && !slot.may_be_empty) return false;
      *slot.string = text;
      return true;
    }
    if (slot.expr == nullptr) return false;
    *slot.expr = text;
    return true;
  }

  bool literal(std::string_view text, bool read, const Slot& slot) {
    const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
    if (slot.boolean == nullptr || !rest.starts_with(text)) return false;
    *slot.boolean = read;
    at_ += text.size();
    return true;
  }

  bool number(const Slot& slot) {
    if (at_ == end_) return false;
    std::int64_t read = 0;
    const char* const digits = at_ + (*at_ == '-' ? 1 : 0);
    const auto [end, error] = std::from_chars(at_, end_, read);
    if (error != std::errc() || (*digits == '0' && end != digits + 1)) return false;
    if (end != end_ && (*end == '.' || *end == 'e' || *end == 'E')) return false;
    at_ = end;
    if (slot.integer != nullptr) {
      *slot.integer = read;
      return true;
    }
    if (slot.expr == nullptr) return false;
    *slot.expr = read;
    return true;
  }

  bool list(const ListFields& fields) {
    ++at_;
    std::size_t index = 0;
    if (!takes(']')) {
      do {
        if (index == fields.max || !value(fields.element(fields_, index))) return false;
        if (!passes(fields.after)) return false;
        ++index;
      } while (takes(','));
      if (!takes(']')) return false;
    }
    return index >= fields.min;
  }

  bool object(const ObjectFields& fields) {
    ++at_;
    std::uint32_t seen = 0;
    std::size_t next = 0;  // Where the search for a key starts: files keep one order.
    std::array<std::string_view, 4> keys;
    std::size_t entries = 0;
    if (!takes('}')) {
      do {
        std::string_view key;
        if (peek() != '"' || !string(key) || !takes(':')) return false;
        if (fields.entry != nullptr) {
          const auto known = keys.begin() + entries;
          if (key.empty() || entries == keys.size() ||
              std::find(keys.begin(), known, key) != known) {
            return false;
          }
          keys[entries++] = key;
          if (!value(fields.entry(fields_, key)) || !passes(fields.after_entry)) return false;
          continue;
        }
        const Field* const field = find(fields.fields, key, next);
        if (field == nullptr) return false;
        const std::uint32_t bit = std::uint32_t{1} << (field - fields.fields.data());
        if ((seen & bit) != 0 || !value(field->slot(fields_)) || !passes(field->after))
          return false;
        seen |= bit;
      } while (takes(','));
      if (!takes('}')) return false;
    }
    return (seen & fields.required) == fields.required && passes(fields.end);
  }

  /// `head_of` of a string in the text.
  std::uint64_t head(std::string_view key) const {
    if constexpr (std::endian::native == std::endian::little) {
      if (key.size() <= 8 && end_ - key.data() >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, key.data(), sizeof word);
        return key.empty() ? 0 : word & ~std::uint64_t{0} >> (64 - 8 * key.size());
      }
    }
    return head_of(key);
  }

  const Field* find(std::span<const Field> fields, std::string_view key, std::size_t& next) const {
    const std::uint64_t wanted = head(key);
    for (std::size_t tried = 0; tried < fields.size(); ++tried) {
      if (next == fields.size()) next = 0;
      const Field& field = fields[next++];
      if (field.head != wanted || field.key.size() != key.size()) continue;
      if (key.size() <= 8 || field.key == key) return &field;
    }
    return nullptr;
  }

  bool passes(Hook hook) {
    if (hook == nullptr) return true;
    hook(fields_);
    if (fields_.fault.empty()) return true;
    fields_.fault.clear();
    return false;
  }

  const char* at_;
  const char* const end_;
  PlanFields& fields_;
};

}  // namespace

PlainItems::Read PlainItems::read(const ListFields& list, std::size_t index, std::size_t at) {
  Read result{0, at};
  if (misses_ == kMostMisses) return result;
  const char* const end = text_.data() + text_.size();
  for (;;) {
    PlainItem item(text_.data() + result.end, end, fields_);
    if (!item.takes(',')) break;
    if (!item.value(list.element(fields_, index + result.items))) break;
    list.after(fields_);
    fields_.feed.end_item();
    ++result.items;
    result.end = static_cast<std::size_t>(item.at() - text_.data());
  }
  misses_ = result.items > 0 ? 0 : misses_ + 1;
  return result;
}

}  // namespace memverify
