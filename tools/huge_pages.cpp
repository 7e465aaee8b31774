// Large blocks on huge pages, and used again. A plan of a million ops fills a gigabyte, and where a
// page fault is dear (virtual machines) 4 KiB pages cost more than the whole verification, and
// fresh pages a quarter of it. Blocks of a tenth of that plan lie together on some. Linked into the
// command only; a program that links the libraries keeps its own allocator.
#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;  ///< From here on, the rounding wastes under a half.
constexpr std::size_t kUnit = kLarge / 64;

/// Large blocks that were given back: their pages are there already.
class Spare {
 public:
  /// The smallest that has `size` bytes, or nullptr.
  void* take(std::size_t size) {
    const std::scoped_lock lock(mutex_);
    Block* best = nullptr;
    for (Block& block : blocks_) {
      if (block.size >= size && (best == nullptr || block.size < best->size)) best = &block;
    }
    return best == nullptr ? nullptr : std::exchange(*best, {}).start;
  }
  /// Keeps the block in place of the smallest one, which is returned; nullptr if there is room.
  void* keep(void* start, std::size_t size) {
    const std::scoped_lock lock(mutex_);
    Block* least = &blocks_.front();
    for (Block& block : blocks_) {
      if (block.size < least->size) least = &block;
    }
    return least->size >= size ? start : std::exchange(*least, {start, size}).start;
  }

 private:
  struct Block {
    void* start = nullptr;
    std::size_t size = 0;
  };
  std::mutex mutex_;
  std::array<Block, 16> blocks_;
};
constinit Spare spare;

/// Blocks of kUnit up to kLarge bytes, next to each other in chunks of kLarge.
class Chunks {
 public:
  /// nullptr if there is no room, for the blocks of a large plan are large, or at first.
  void* take(std::size_t size) {
    const std::size_t units = (size + kUnit - 1) / kUnit;
    const std::scoped_lock lock(mutex_);
    asked_ += size;
    if (asked_ < kHugePage) return nullptr;  // Of a small plan little would be used.
    for (Chunk& chunk : chunks_) {
      if (chunk.start == nullptr && !make(chunk)) return nullptr;
      std::uint64_t gaps = ~chunk.used;  // Where `units` free ones begin.
      for (std::size_t k = 1; k < units; ++k) gaps &= gaps >> 1U;
      if (gaps == 0) continue;
      const auto first = static_cast<unsigned>(std::countr_zero(gaps));
      chunk.used |= (~std::uint64_t{0} >> (kUnits - units)) << first;
      chunk.last |= std::uint64_t{1} << (first + units - 1);
      return chunk.start + first * kUnit;
    }
    return nullptr;
  }
  /// False if the block is none of these.
  bool keep(void* block) {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    if (address % kUnit != 0) return false;
    const std::scoped_lock lock(mutex_);
    for (Chunk& chunk : chunks_) {
      const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(chunk.start);
      if (chunk.start == nullptr || offset >= kLarge) continue;
      const std::uint64_t from = ~std::uint64_t{0} << (offset / kUnit);
      const std::uint64_t last = chunk.last & from & -(chunk.last & from);
      chunk.used &= ~(from & (last | (last - 1)));
      chunk.last &= ~last;
      return true;
    }
    return false;
  }

 private:
  struct Chunk {
    char* start = nullptr;
    std::uint64_t used = 0;  ///< A bit each unit.
    std::uint64_t last = 0;  ///< Where a block ends.
  };
  static constexpr std::size_t kUnits = kLarge / kUnit;

  static bool make(Chunk& chunk) {
    chunk.start = static_cast<char*>(std::aligned_alloc(kHugePage, kLarge));
    if (chunk.start != nullptr) (void)::madvise(chunk.start, kLarge, MADV_HUGEPAGE);
    return chunk.start != nullptr;
  }

  std::mutex mutex_;
  std::size_t asked_ = 0;  ///< Bytes so far.
  std::array<Chunk, 8> chunks_;
};
constinit Chunks chunks;

void* large(std::size_t size) {
  if (size > SIZE_MAX - kHugePage) return nullptr;
  const std::size_t rounded = (size + kHugePage - 1) / kHugePage * kHugePage;
  if (void* const block = spare.take(rounded); block != nullptr) return block;
  void* const block = std::aligned_alloc(kHugePage, rounded);
  if (block != nullptr) (void)::madvise(block, rounded, MADV_HUGEPAGE);  // Advice: may be ignored.
  return block;
}

}  // namespace

void* operator new(std::size_t size) {
  void* block = nullptr;
  if (size >= kLarge) {
    block = large(size);
  } else {
    if (size >= kUnit) block = chunks.take(size);
    if (block == nullptr) block = std::malloc(size == 0 ? 1 : size);
  }
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  if (block == nullptr || chunks.keep(block)) return;
  const std::size_t size = ::malloc_usable_size(block);
  std::free(size < kLarge ? block : spare.keep(block, size));
}
void operator delete(void* block, std::size_t /*size*/) noexcept { operator delete(block); }
