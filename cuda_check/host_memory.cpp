#include "cuda_check/host_memory.h"

#include <algorithm>
#include <atomic>

namespace memverify::device {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

std::int64_t word_of(std::int64_t address) { return address & ~std::int64_t{7}; }

/// Calls `visit(address, mask)` for each word of the piece, `mask` covering the piece's bytes in
/// it.
template <typename Visit>
void for_each_word(const Piece& piece, Visit visit) {
  for (std::int64_t at = word_of(piece.bytes.begin); at < piece.bytes.end; at += kWordBytes) {
    const std::int64_t first = std::max<std::int64_t>(piece.bytes.begin - at, 0);
    const std::int64_t last = std::min<std::int64_t>(piece.bytes.end - at, kWordBytes);
    visit(at, byte_mask(first, last));
  }
}

std::uint64_t load(std::uint64_t* word) {
  return std::atomic_ref<std::uint64_t>(*word).load(kRelaxed);
}

void store(std::uint64_t* word, std::uint64_t value, std::uint64_t mask) {
  if (mask == ~std::uint64_t{0}) {
    std::atomic_ref<std::uint64_t>(*word).store(value, kRelaxed);
    return;
  }
  auto* bytes = reinterpret_cast<std::uint8_t*>(word);
  for (unsigned j = 0; j < 8; ++j) {
    if ((mask >> (8 * j) & 0xFFU) == 0) continue;
    std::atomic_ref<std::uint8_t>(bytes[j]).store(static_cast<std::uint8_t>(value >> (8 * j)),
                                                  kRelaxed);
  }
}

/// Collects the wrong bytes word by word.
class ClashList {
 public:
  explicit ClashList(const Piece& piece) : pool_(piece.pool) {}

  void add(std::int64_t address, std::uint64_t found, std::uint64_t wrong) {
    if (wrong == 0) return;
    for (unsigned j = 0; j < 8; ++j) {
      if ((wrong >> (8 * j) & 0xFFU) == 0) continue;
      add_byte(address, found, address + j);
    }
  }
  std::vector<Clash> take() { return std::move(list_); }

 private:
  void add_byte(std::int64_t address, std::uint64_t found, std::int64_t byte) {
    const std::uint64_t code = found ^ hash_of(pool_, address);
    if (!list_.empty() && byte - list_.back().bytes.end < kWordBytes && code == last_code_) {
      list_.back().bytes.end = byte + 1;
    } else if (list_.size() < kMaxClashes) {
      list_.push_back({{byte, byte + 1}, address, found});
      last_code_ = code;
    }
  }
  PoolId pool_;
  std::uint64_t last_code_ = 0;
  std::vector<Clash> list_;
};

}  // namespace

std::size_t words_of(const Piece& piece) {
  return static_cast<std::size_t>((word_of(piece.bytes.end + 7) - word_of(piece.bytes.begin)) /
                                  kWordBytes);
}

HostMemory::HostMemory(const Work& work) {
  for (const ByteRange& range : work.pools) {
    const std::int64_t bytes = range.end - range.begin;
    pools_.push_back({range.begin, bytes,
                      std::make_unique_for_overwrite<std::uint64_t[]>(
                          static_cast<std::size_t>(bytes / kWordBytes))});
  }
}

void HostMemory::reset(const Work& work) {
  for (const PoolId pool : ids(pools_)) {
    const std::uint64_t nothing = code_of(Author::kNobody);
    const std::int64_t end = pools_[pool].begin + pools_[pool].bytes;
    for (std::int64_t at = pools_[pool].begin; at < end; at += kWordBytes) {
      *word(pool, at) = nothing ^ hash_of(pool, at);
    }
  }
  for (const Piece& piece : work.slice(work.initial)) write(piece, piece.value);
}

void HostMemory::write(const Piece& piece, std::uint64_t code) {
  for_each_word(piece, [&](std::int64_t at, std::uint64_t mask) {
    store(word(piece.pool, at), code ^ hash_of(piece.pool, at), mask);
  });
}

void HostMemory::add(const Piece& piece, std::uint64_t amount, std::vector<std::uint64_t>* before) {
  for_each_word(piece, [&](std::int64_t at, std::uint64_t mask) {
    const std::uint64_t old =
        std::atomic_ref<std::uint64_t>(*word(piece.pool, at)).fetch_xor(amount & mask, kRelaxed);
    if (before != nullptr) before->push_back(old);
  });
}

std::vector<Clash> HostMemory::check(const Piece& piece, std::uint64_t code) const {
  ClashList clashes(piece);
  for_each_word(piece, [&](std::int64_t at, std::uint64_t mask) {
    const std::uint64_t found = load(word(piece.pool, at));
    clashes.add(at, found, (found ^ code ^ hash_of(piece.pool, at)) & mask);
  });
  return clashes.take();
}

std::vector<Clash> HostMemory::check_since(const Piece& piece, const std::uint64_t* before,
                                           std::uint64_t added, std::uint64_t may_change) const {
  ClashList clashes(piece);
  for_each_word(piece, [&](std::int64_t at, std::uint64_t mask) {
    const std::uint64_t found = load(word(piece.pool, at));
    clashes.add(at, found, (found ^ *before++ ^ added) & mask & ~may_change);
  });
  return clashes.take();
}

std::uint64_t HostMemory::checksum(const Piece& piece, std::uint64_t sum) const {
  for_each_word(piece, [&](std::int64_t at, std::uint64_t mask) {
    const std::uint64_t code = (load(word(piece.pool, at)) ^ hash_of(piece.pool, at)) & mask;
    sum = (sum ^ code) * 0x100000001B3U;
  });
  return sum;
}

}  // namespace memverify::device
