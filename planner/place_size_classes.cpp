#include <array>

#include "planner/align.h"
#include "planner/blocks.h"
#include "planner/clash_test.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

constexpr std::array<std::int64_t, 3> kClasses = {std::int64_t{64} << 10, std::int64_t{1} << 20,
                                                  std::int64_t{8} << 20};

/// The size of the block for a buffer; beyond the largest class, a multiple of it.
std::int64_t class_of(std::int64_t bytes) {
  for (const std::int64_t size : kClasses) {
    if (bytes <= size) return size;
  }
  return aligned_up(bytes, kClasses.back());
}

}  // namespace

/// As an online allocator would: by first use, the first block of the class that is free.
Placement place_size_classes(const Problem& problem, const StrategyOptions&) {
  const ClashTest clash(problem);
  std::vector<SharedBlock> blocks;
  std::size_t requests = 0;
  for (const BufferIndex b : order_by_first_use(problem)) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.offset || buffer.bytes == 0) continue;
    ++requests;
    const std::int64_t bytes = class_of(buffer.bytes);
    const auto is_free = [&](const SharedBlock& block) {
      return block.bytes == bytes && std::ranges::none_of(block.buffers, [&](BufferIndex other) {
               return clash(b, other);
             });
    };
    auto block = std::ranges::find_if(blocks, is_free);
    if (block == blocks.end()) block = blocks.insert(blocks.end(), SharedBlock{bytes, {}});
    block->buffers.push_back(b);
  }
  Placement placement = stack_blocks(problem, blocks);
  const std::size_t percent = requests == 0 ? 0 : blocks.size() * 100 / requests;
  placement.note = std::to_string(requests - blocks.size()) + " pool hits, " +
                   std::to_string(blocks.size()) + " system allocations, " +
                   std::to_string(percent) + " of them for 100 requests";
  return placement;
}

}  // namespace memverify
