// plan/name_table.h -- every string of a plan, stored once.
//
// A plan of 10^6 ops has some 10^7 mentions of names. Each mention costs one look-up in an open
// addressing table (8 bytes a slot), and each different string its bytes in a chunk
// that never moves, so that the plan's string_views stay valid for as long as the arena lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "plan/ids.h"

namespace memverify {

enum class StringId : std::uint32_t {};

struct NameHash;

/// Bytes that never move. Freed with the arena. One allocation per 256 KiB.
class NameArena {
 public:
  /// A copy of `text` that lives as long as the arena.
  std::string_view store(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

/// Gives equal strings equal ids, counted from 0. `intern` is O(length) expected.
class NameTable {
 public:
  NameTable();
  StringId intern(std::string_view text);
  std::string_view text(StringId id) const noexcept { return texts_[id]; }
  std::size_t size() const noexcept { return texts_.size(); }
  /// A hint that about `names` different strings will follow.
  void reserve(std::size_t names);
  /// Owner of every text; outlives the table.
  std::shared_ptr<const NameArena> arena() const { return arena_; }

 private:
  struct Slot {
    std::uint32_t tag = 0;          ///< Of different names mostly different.
    StringId id = kNone<StringId>;  ///< kNone: free.
  };
  StringId search(std::string_view text, NameHash hash);
  void grow(std::size_t slots);

  std::shared_ptr<NameArena> arena_;
  Table<StringId, std::string_view> texts_;
  std::vector<Slot> slots_;  ///< A power of two, at most 3/4 full, double hashing.
};

}  // namespace memverify
