#include "plan/name_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace memverify {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

template <typename Word>
std::uint64_t load(const char* at) {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// The last eight bytes of `text`, its last one on top, zeros beneath where there are fewer.
std::uint64_t last_eight(std::string_view text) {
  const std::size_t size = text.size();
  const char* const end = text.data() + size;
  if (size >= 8) return load<std::uint64_t>(end - 8);
  const std::size_t gap = 8 * (8 - size);  // Where the first byte goes.
  if (size >= 4)
    return load<std::uint32_t>(end - 4) << 32 | load<std::uint32_t>(text.data()) << gap;
  if (size >= 2) return load<std::uint16_t>(end - 2) << 48 | load<std::uint8_t>(text.data()) << gap;
  return size == 0 ? 0 : load<std::uint8_t>(end - 1) << 56;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

/// Eight bytes as above, without the digits that they end with (seven at most), and those.
struct NumberedWord {
  std::uint64_t rest;
  std::uint32_t number;
};
NumberedWord split_number(std::uint64_t word) {
  constexpr std::uint64_t kEach = 0x0101010101010101U;
  const std::uint64_t values = word ^ (kEach * '0');
  const std::uint64_t others = ((values | (values + kEach * 6)) & (kEach * 0xF0)) | 1;
  const std::uint64_t below = ~std::uint64_t{0} >> (std::countl_zero(others) & ~7);
  // Neighbouring digits, pairs and fours are put together, all at once.
  std::uint64_t sum = values & ~below;
  sum = sum * 10 + (sum >> 8);
  sum = ((sum & 0xFF000000FFU) * (100 + (std::uint64_t{1000000} << 32)) +
         (sum >> 16 & 0xFF000000FFU) * (1 + (std::uint64_t{10000} << 32))) >>
        32;
  return {word & below, static_cast<std::uint32_t>(sum)};
}

/// A name is looked for in every `step`-th slot from `at` on. Names that differ in the number at
/// their end only (t1, t2, ...) are neighbours: names are mostly numbered and used in about that
/// order, so look-ups find their lines loaded, or fetched ahead.
struct Probe {
  std::size_t at;
  std::size_t step;   ///< Odd, so that it comes to every slot.
  std::uint32_t tag;  ///< Of different names mostly different.
};
inline Probe probe_of(std::string_view text) {
  const auto [rest, number] = split_number(last_eight(text));
  std::uint64_t hash = mix(text.size(), rest);
  for (; text.size() > 8; text.remove_suffix(8)) {
    hash = mix(hash, last_eight(text.substr(0, text.size() - 8)));
  }
  hash = mix(hash, 0);
  return {(hash >> 24) + number, (hash >> 40) | 1, static_cast<std::uint32_t>(hash >> 32) + number};
}

}  // namespace

std::string_view NameArena::store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > left_) {
    const std::size_t bytes = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    next_ = chunks_.back().get();
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

StringId NameTable::intern(std::string_view text) {
  if ((texts_.size() + 1) * 4 > slots_.size() * 3) grow(slots_.size() * 2);
  const Probe probe = probe_of(text);
  for (std::size_t at = probe.at;; at += probe.step) {
    Slot& slot = slots_[at & (slots_.size() - 1)];
    if (slot.id == kNone<StringId>) {
      slot = {probe.tag, texts_.push_back(arena_->store(text))};
      assert(slot.id != kNone<StringId>);
      return slot.id;
    }
    if (slot.tag == probe.tag && texts_[slot.id] == text) return slot.id;
  }
}

void NameTable::grow(std::size_t slots) {
  slots_.assign(slots, Slot());
  for (const StringId id : ids(texts_)) {
    const Probe probe = probe_of(texts_[id]);
    std::size_t at = probe.at;
    while (slots_[at & (slots - 1)].id != kNone<StringId>) at += probe.step;
    slots_[at & (slots - 1)] = {probe.tag, id};
  }
}

}  // namespace memverify
