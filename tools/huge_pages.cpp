// Large blocks on huge pages, and used again. A plan of a million ops fills a gigabyte, and where a
// page fault is dear (virtual machines) 4 KiB pages cost more than the whole verification, and
// fresh pages a quarter of it. Linked into the command only; a program that links the libraries
// keeps its own allocator.
#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;  ///< From here on, the rounding wastes under a half.

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
  void* const block = size < kLarge ? std::malloc(size == 0 ? 1 : size) : large(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  const std::size_t size = block == nullptr ? 0 : ::malloc_usable_size(block);
  std::free(size < kLarge ? block : spare.keep(block, size));
}
void operator delete(void* block, std::size_t /*size*/) noexcept { operator delete(block); }
