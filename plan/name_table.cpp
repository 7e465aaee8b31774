#include "plan/name_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace memverify {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

/// The bytes of `text`, at most 8, in one word.
std::uint64_t load(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return std::uint64_t{static_cast<unsigned char>(text[i])};
  };
  const std::size_t size = text.size();
  if (size < 4) return size == 0 ? 0 : byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
  std::uint32_t first = 0;
  std::uint32_t last = 0;  // Of 4 bytes each, which overlap when there are fewer than 8.
  std::memcpy(&first, text.data(), sizeof first);
  std::memcpy(&last, text.data() + size - sizeof last, sizeof last);
  return first | std::uint64_t{last} << 32;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

/// Names that differ in their last byte only (t10 ... t19) hash to neighbours. Names are mostly
/// numbered and used in about that order, so look-ups stay in the lines that the last ones loaded.
std::uint32_t hash_of(std::string_view text) {
  if (text.empty()) return 0;
  constexpr std::uint32_t kNear = 16;
  const auto last = static_cast<unsigned char>(text.back());
  text.remove_suffix(1);
  std::uint64_t hash = text.size();
  while (text.size() > 8) {
    hash = mix(hash, load(text.substr(0, 8)));
    text.remove_prefix(8);
  }
  hash = mix(mix(hash, load(text)), 0);
  return static_cast<std::uint32_t>(hash >> 32) * kNear + last;
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

NameTable::NameTable()
    : arena_(std::make_shared<NameArena>()), slots_(1024, Slot{0, kNone<StringId>}) {}

void NameTable::reserve(std::size_t names) {
  texts_.reserve(names);
  // Slots are touched at once, so rather a few too small than too large.
  const std::size_t slots = std::bit_floor(2 * names);
  if (slots > slots_.size()) grow(slots);
}

StringId NameTable::intern(std::string_view text) {
  if ((texts_.size() + 1) * 4 > slots_.size() * 3) grow(slots_.size() * 2);
  const std::uint32_t hash = hash_of(text);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id != kNone<StringId>) {
    if (slots_[at].hash == hash && texts_[slots_[at].id] == text) return slots_[at].id;
    at = (at + 1) & mask;
  }
  slots_[at] = {hash, texts_.push_back(arena_->store(text))};
  assert(slots_[at].id != kNone<StringId>);
  return slots_[at].id;
}

void NameTable::grow(std::size_t slots) {
  std::vector<Slot> old(slots, Slot{0, kNone<StringId>});
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == kNone<StringId>) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id != kNone<StringId>) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace memverify
