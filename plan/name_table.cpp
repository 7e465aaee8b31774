#include "plan/name_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

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

/// True iff `stored`, in an arena, equals `text`, of which `last` is all.
bool equals_short(std::string_view stored, std::string_view text, std::uint64_t last) {
  if (stored.size() != text.size()) return false;
  if (text.empty()) return true;
  const std::uint64_t word = load<std::uint64_t>(stored.data() + stored.size() - 8);
  return (word ^ last) >> (64 - 8 * text.size()) == 0;
}

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

/// A name is looked for in every `step`-th slot from `at` on. Names that differ in the four digits
/// at their end only (t1000, t1001, ...) are neighbours, there and after each step: names are
/// mostly numbered and used in about that order, so look-ups find their lines loaded, or fetched
/// ahead.
struct NameHash {
  std::uint64_t rest;
  std::uint32_t number;  ///< Of the digits.

  std::size_t at() const { return (rest >> 24) + number; }
  std::size_t step() const { return (rest >> 40) | 1; }  ///< Odd, so that it comes to every slot.
  /// Of different names mostly different.
  std::uint32_t tag() const { return static_cast<std::uint32_t>(rest >> 32) + number; }
};

namespace {

/// `last`: the last eight bytes.
inline NameHash hash_of(std::string_view text, std::uint64_t last) {
  // Neighbouring digits and pairs are put together, all at once; a letter is some digit, too.
  std::uint32_t number = static_cast<std::uint32_t>(last >> 32) & 0x0F0F0F0FU;
  number = number * 10 + (number >> 8);
  number = ((number & 0x00FF00FFU) * (1 + (100U << 16))) >> 16;
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t rest = last & 0xF0F0F0F0FFFFFFFFU;
  for (; text.size() > 8; text.remove_suffix(8)) {
    rest = ((rest ^ (rest >> 29)) * kFactor) ^ last_eight(text.substr(0, text.size() - 8));
  }
  rest *= kFactor;
  return {(rest ^ (rest >> 32)) * kFactor, number};
}

}  // namespace

NameTable::NameTable() : arena_(std::make_shared<NameArena>()), slots_(1024) {}

void NameTable::reserve(std::size_t names) {
  texts_.reserve(names);
  // Slots are touched at once, so rather a few too small than too large.
  const std::size_t slots = std::bit_floor(names + names / 4 * 3);
  if (slots > slots_.size()) grow(slots);
}

StringId NameTable::intern(std::string_view text) {
  const std::uint64_t last = last_eight(text);
  const NameHash hash = hash_of(text, last);
  if constexpr (std::endian::native == std::endian::little) {  // What is found at once.
    const Slot slot = slots_[hash.at() & (slots_.size() - 1)];
    if (slot.tag == hash.tag() && text.size() <= 8 && slot.id != kNone<StringId> &&
        equals_short(texts_[slot.id], text, last)) {
      return slot.id;
    }
  }
  return search(text, hash);
}

StringId NameTable::search(std::string_view text, NameHash hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash.at();
  for (; slots_[at & mask].id != kNone<StringId>; at += hash.step()) {
    const Slot slot = slots_[at & mask];
    if (slot.tag == hash.tag() && texts_[slot.id] == text) return slot.id;
  }
  const StringId id = texts_.push_back(arena_->store(text));
  assert(id != kNone<StringId>);
  slots_[at & mask] = {hash.tag(), id};
  if (texts_.size() * 4 > slots_.size() * 3) grow(slots_.size() * 2);
  return id;
}

void NameTable::grow(std::size_t slots) {
  slots_.assign(slots, Slot());
  for (const StringId id : ids(texts_)) {
    const NameHash hash = hash_of(texts_[id], last_eight(texts_[id]));
    std::size_t at = hash.at();
    while (slots_[at & (slots - 1)].id != kNone<StringId>) at += hash.step();
    slots_[at & (slots - 1)] = {hash.tag(), id};
  }
}

}  // namespace memverify
