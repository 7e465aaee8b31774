// Large blocks on huge pages. A plan of a million ops fills a gigabyte, and where a page fault is
// dear (virtual machines) 4 KiB pages cost more than the whole verification. Linked into the
// command only; a program that links the libraries keeps its own allocator.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;  ///< From here on, the rounding wastes under a half.

void* large(std::size_t size) {
  if (size > SIZE_MAX - kHugePage) return nullptr;
  const std::size_t rounded = (size + kHugePage - 1) / kHugePage * kHugePage;
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
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*size*/) noexcept { std::free(block); }
