// cuda_check/host_memory.h -- the pools of a plan in memory of this process.
//
// Races are what is looked for, so every access is a relaxed atomic one: of a word where a piece
// covers it whole, else of its bytes. A load may take more than its bytes, a store never does.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda_check/work.h"

namespace memverify::device {

/// Bytes that do not hold what they should: as many as follow each other with the same author.
struct Clash {
  ByteRange bytes;
  std::int64_t address = 0;  ///< Of the first word with wrong bytes, a multiple of 8.
  std::uint64_t word = 0;    ///< What is there.
};

inline constexpr std::size_t kMaxClashes = 8;  ///< Of one piece.

class HostMemory {
 public:
  /// Uninitialised. Throws std::bad_alloc.
  explicit HostMemory(const Work& work);

  /// As before the program. Nobody else may access it meanwhile.
  void reset(const Work& work);

  void write(const Piece& piece, std::uint64_t code);
  /// Adds without carry, and keeps in `before` what the words held, one for each word of the piece.
  void add(const Piece& piece, std::uint64_t amount, std::vector<std::uint64_t>* before);
  /// What differs from `code`; at most kMaxClashes.
  std::vector<Clash> check(const Piece& piece, std::uint64_t code) const;
  /// What changed since `before` besides `added` and bits of `may_change`.
  std::vector<Clash> check_since(const Piece& piece, const std::uint64_t* before,
                                 std::uint64_t added, std::uint64_t may_change) const;
  /// All words of a pool, to be copied into; nobody else may access them meanwhile.
  std::uint64_t* words(PoolId pool) { return pools_[pool].words.get(); }
  /// Of the bytes of the piece, without the hashes of their addresses.
  std::uint64_t checksum(const Piece& piece, std::uint64_t sum) const;

 private:
  struct Pool {
    std::int64_t begin = 0;  ///< Address of the first word, a multiple of 16.
    std::int64_t bytes = 0;
    std::unique_ptr<std::uint64_t[]> words;
  };
  std::uint64_t* word(PoolId pool, std::int64_t address) const {
    return &pools_[pool].words[static_cast<std::size_t>((address - pools_[pool].begin) / 8)];
  }
  Table<PoolId, Pool> pools_;
};

/// Words that the piece has bytes of.
std::size_t words_of(const Piece& piece);

}  // namespace memverify::device
