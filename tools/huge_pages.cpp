// Large blocks on huge pages, and their pages used again. A plan of a million ops fills most of a
// gigabyte, and where a page fault is dear (virtual machines) 4 KiB pages cost more than the whole
// verification, and fresh pages a quarter of it. Blocks of a tenth of that plan lie together on
// some. Linked into the command only; a program that links the libraries keeps its own allocator.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;  ///< From here on, the rounding wastes under a half.
constexpr std::size_t kUnit = kLarge / 64;

/// A multiple of huge pages, aligned to them.
struct Pages {
  std::byte* start = nullptr;
  std::size_t size = 0;
};

/// Address space without pages; {} if there is none.
Pages fresh(std::size_t size) {
  const std::size_t with_slack = size + kHugePage;
  void* const mapped = ::mmap(nullptr, with_slack, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return {};
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(mapped) % kHugePage;
  if (before > 0) (void)::munmap(begin, before);
  (void)::munmap(begin + before + size, kHugePage - before);
  (void)::madvise(begin + before, size, MADV_HUGEPAGE);  // Advice: may be ignored.
  return {begin + before, size};
}

/// The large blocks in use and the pages that were given back, which are used again.
class Large {
 public:
  void* take(std::size_t size) {
    const std::scoped_lock lock(mutex_);
    const auto used = std::ranges::find(used_, nullptr, &Pages::start);
    if (used == used_.end()) return nullptr;
    Pages* best = nullptr;
    for (Pages& pages : spare_) {
      if (pages.size >= size && (best == nullptr || pages.size < best->size)) best = &pages;
    }
    *used = best != nullptr ? split(*best, size) : gather(size);
    return used->start;
  }
  /// False if it is none of the blocks.
  bool give_back(void* block) {
    if (reinterpret_cast<std::uintptr_t>(block) % kHugePage != 0) return false;
    const std::scoped_lock lock(mutex_);
    const auto used = std::ranges::find(used_, block, &Pages::start);
    if (used == used_.end()) return false;
    Pages* const least = &*std::ranges::min_element(spare_, {}, &Pages::size);
    if (least->size < used->size) std::swap(*least, *used);
    if (used->start != nullptr) (void)::munmap(used->start, used->size);
    *used = {};
    return true;
  }

 private:
  static Pages split(Pages& from, std::size_t size) {
    const Pages front{from.start, size};
    from = {from.start + size, from.size - size};
    if (from.size == 0) from = {};
    return front;
  }
  /// Moves spare pages to where a block finds room: they need not be cleared.
  Pages gather(std::size_t size) {
    const Pages block = fresh(size);
    std::size_t moved = 0;
    for (Pages& pages : spare_) {
      for (; moved < block.size && pages.size > 0; moved += kHugePage) {
        const Pages page = split(pages, kHugePage);
        void* const to = ::mremap(page.start, kHugePage, kHugePage, MREMAP_MAYMOVE | MREMAP_FIXED,
                                  block.start + moved);
        if (to != MAP_FAILED) continue;
        (void)::munmap(page.start, kHugePage);
        if (!map_at(block.start + moved)) {  // What was there may be gone.
          (void)::munmap(block.start, block.size);
          return {};
        }
      }
    }
    return block;
  }
  static bool map_at(void* start) {
    return ::mmap(start, kHugePage, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
  }

  std::mutex mutex_;
  std::array<Pages, 1024> used_;
  std::array<Pages, 64> spare_;
};
constinit Large large;

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
  bool give_back(void* block) {
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
    std::byte* start = nullptr;
    std::uint64_t used = 0;  ///< A bit each unit.
    std::uint64_t last = 0;  ///< Where a block ends.
  };
  static constexpr std::size_t kUnits = kLarge / kUnit;

  static bool make(Chunk& chunk) {
    chunk.start = static_cast<std::byte*>(large.take(kLarge));
    return chunk.start != nullptr;
  }

  std::mutex mutex_;
  std::size_t asked_ = 0;  ///< Bytes so far.
  std::array<Chunk, 8> chunks_;
};
constinit Chunks chunks;

std::size_t rounded(std::size_t size) { return (size + kHugePage - 1) / kHugePage * kHugePage; }

}  // namespace

void* operator new(std::size_t size) {
  void* block = nullptr;
  if (size >= kLarge && size <= PTRDIFF_MAX - 2 * kHugePage) {
    block = large.take(rounded(size));
  } else if (size >= kUnit && size < kLarge) {
    block = chunks.take(size);
  }
  if (block == nullptr) block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  if (!chunks.give_back(block) && !large.give_back(block)) std::free(block);
}
void operator delete(void* block, std::size_t /*size*/) noexcept { operator delete(block); }
