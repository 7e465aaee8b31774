#include "plan/name_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

namespace memverify {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
constexpr std::size_t kRoomBefore = 8;  ///< So that words that end with a text can be loaded.

template <typename Word>
std::uint64_t load(const char* at) {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// The last eight bytes of `text`, its last one on top, zeros beneath where there are fewer.
inline std::uint64_t last_eight(std::string_view text) {
  const std::size_t size = text.size();
  const char* const end = text.data() + size;
  if (size >= 8) return load<std::uint64_t>(end - 8);
  const std::size_t gap = 8 * (8 - size);  // Where the first byte goes.
  if (size >= 4)
    return load<std::uint32_t>(end - 4) << 32 | load<std::uint32_t>(text.data()) << gap;
  if (size >= 2) return load<std::uint16_t>(end - 2) << 48 | load<std::uint8_t>(text.data()) << gap;
  return size == 0 ? 0 : load<std::uint8_t>(end - 1) << 56;
}

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;

/// Where the search for a name begins. Names that differ in the two digits at their end only (t10,
/// t11, ...) are neighbours: names are mostly numbered and used in about that order, so look-ups
/// find their lines loaded, or fetched ahead.
inline std::uint32_t tag_of(std::string_view text, std::uint64_t last) {
  const std::uint64_t number = (last >> 56) + 10 * (last >> 48 & 0xFF);
  std::uint64_t hash = last << 16;
  for (; text.size() > 8; text.remove_suffix(8)) {
    hash = (hash ^ hash >> 29) * kFactor ^ last_eight(text.substr(0, text.size() - 8));
  }
  hash *= kFactor;
  hash = (hash ^ hash >> 32) * kFactor;
  return static_cast<std::uint32_t>((hash >> 32) + number);
}

/// From a place that another name has, every so manieth is looked at. Odd: that comes to every
/// slot.
inline std::size_t step_of(std::uint32_t tag) { return tag * kFactor >> 40 | 1; }

}  // namespace

std::string_view NameArena::store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > left_) {
    const std::size_t bytes = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(kRoomBefore + bytes));
    next_ = chunks_.back().get() + kRoomBefore;
    left_ = bytes;
  }
  std::memcpy(next_, text.data(), text.size());
  const std::string_view stored(next_, text.size());
  next_ += text.size();
  left_ -= text.size();
  return stored;
}

NameTable::NameTable() : arena_(std::make_shared<NameArena>()), slots_(1024) {}

void NameTable::reserve(std::size_t names) {
  texts_.reserve(names);
  // Slots are touched at once, so rather a few too small than too large.
  const std::size_t slots = std::bit_floor(2 * names);
  if (slots > slots_.size()) grow(slots);
}

/// True iff `stored`, in an arena, equals `text`, which has eight bytes at most.
inline bool is_short(std::string_view stored, std::string_view text, std::uint64_t last) {
  if (stored.size() != text.size()) return false;
  if (text.empty()) return true;
  const std::uint64_t word = load<std::uint64_t>(stored.data() + stored.size() - 8);
  return (word ^ last) >> (64 - 8 * text.size()) == 0;
}

StringId NameTable::intern(std::string_view text) {
  const std::uint64_t last = last_eight(text);
  const std::uint32_t tag = tag_of(text, last);
  if constexpr (std::endian::native == std::endian::little) {
    const Slot slot = slots_[tag & (slots_.size() - 1)];
    if (slot.tag == tag && text.size() <= 8 && slot.id != kNone<StringId> &&
        is_short(texts_[slot.id], text, last))
      return slot.id;
  }
  return search(text, tag);
}

StringId NameTable::search(std::string_view text, std::uint32_t tag) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = tag;
  for (; slots_[at & mask].id != kNone<StringId>; at += step_of(tag)) {
    const Slot slot = slots_[at & mask];
    if (slot.tag == tag && texts_[slot.id] == text) return slot.id;
  }
  const StringId id = texts_.push_back(arena_->store(text));
  assert(id != kNone<StringId>);
  slots_[at & mask] = {tag, id};
  if (texts_.size() * 4 > slots_.size() * 3) grow(slots_.size() * 2);
  return id;
}

void NameTable::grow(std::size_t slots) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old) {
    if (slot.id == kNone<StringId>) continue;
    std::size_t at = slot.tag;
    while (slots_[at & (slots - 1)].id != kNone<StringId>) at += step_of(slot.tag);
    slots_[at & (slots - 1)] = slot;
  }
}

}  // namespace memverify
