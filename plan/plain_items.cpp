#include "plan/plain_items.h"

#include <cstdint>

#include "plan/plain_item.h"

namespace memverify {

const char* skip_blanks(const char* at, const char* limit) {
  while (at < limit && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at;
}

const char* plain_integer(const char* at, std::int64_t& target) {
  constexpr std::ptrdiff_t kMostDigits = 18;  // Any such number fits.
  const bool is_negative = *at == '-';
  const char* const digits = at + (is_negative ? 1 : 0);
  std::int64_t value = 0;
  for (at = digits; *at >= '0' && *at <= '9'; ++at) {
    if (at - digits == kMostDigits) return nullptr;
    value = 10 * value + (*at - '0');
  }
  if (at == digits || (*digits == '0' && at != digits + 1)) return nullptr;
  if (*at == '.' || *at == 'e' || *at == 'E') return nullptr;
  target = is_negative ? -value : value;
  return at;
}

PlainItems::Read PlainItems::read(const ListFields& list, std::size_t index, std::size_t at) {
  Read result{0, at};
  if (misses_ == kMostMisses || text_.size() < kPlainRoom) return result;
  const char* const limit = text_.data() + (text_.size() - kPlainRoom);
  for (const char* item = text_.data() + at; item != nullptr && item < limit;) {
    item = skip_blanks(item, limit);
    if (*item != ',') break;
    item = skip_blanks(item + 1, limit);
    const Slot slot = list.element(fields_, index + result.items);
    if (*item != '{' || slot.plain_object == nullptr) break;
    item = slot.plain_object(item, limit, fields_);
    if (item == nullptr) break;
    list.after(fields_);
    fields_.feed.end_item();
    ++result.items;
    result.end = static_cast<std::size_t>(item - text_.data());
  }
  misses_ = result.items > 0 ? 0 : misses_ + 1;
  return result;
}

}  // namespace memverify
