#include "planner/align.h"
#include "planner/blocks.h"
#include "planner/neighbors.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

/// The size of the block for a buffer; beyond the largest class, a multiple of it.
std::int64_t class_of(std::int64_t bytes, std::span<const std::int64_t> classes) {
  for (const std::int64_t size : classes) {
    if (bytes <= size) return size;
  }
  return aligned_up(bytes, classes.back());
}

/// Blocks that are handed out by first use, and come back when what is in them is dead.
class BlockPool {
 public:
  BlockPool(const Problem& problem, std::span<const std::int64_t> classes)
      : problem_(problem),
        classes_(classes),
        neighbors_(problem),
        block_of_(problem.buffers.size(), kNoBlock) {}

  /// True iff a block of the pool did.
  bool request(BufferIndex b) {
    const std::int64_t bytes = class_of(problem_.buffers[b].bytes, classes_);
    mark_taken(b);
    std::size_t i = 0;
    while (i < blocks_.size() && (blocks_[i].bytes != bytes || is_taken(i, b))) ++i;
    const bool is_hit = i < blocks_.size();
    if (!is_hit) {
      blocks_.push_back({bytes, {}});
      dead_from_.push_back(0);
      taken_by_.push_back(kNoBuffer);
    }
    blocks_[i].buffers.push_back(b);
    block_of_[b] = i;
    if (problem_.live_ranges_decide && is_live(b)) dead_from_[i] = problem_.live_ranges[b].end;
    return is_hit;
  }

  const std::vector<SharedBlock>& blocks() const { return blocks_; }

 private:
  static constexpr std::size_t kNoBlock = static_cast<std::size_t>(-1);
  static constexpr BufferIndex kNoBuffer = static_cast<BufferIndex>(-1);

  bool is_live(BufferIndex b) const {
    return problem_.live_ranges[b].begin < problem_.live_ranges[b].end;
  }

  void mark_taken(BufferIndex b) {
    for (const Neighbors::Entry& entry : neighbors_.of(b)) {
      if (block_of_[entry.other] != kNoBlock) taken_by_[block_of_[entry.other]] = b;
    }
  }

  bool is_taken(std::size_t block, BufferIndex b) const {
    if (!problem_.live_ranges_decide) return taken_by_[block] == b;
    return is_live(b) && !blocks_[block].buffers.empty() &&
           dead_from_[block] > problem_.live_ranges[b].begin;
  }

  const Problem& problem_;
  const std::span<const std::int64_t> classes_;
  const Neighbors neighbors_;
  std::vector<SharedBlock> blocks_;
  std::vector<std::int64_t> dead_from_;  ///< By block, if live ranges decide.
  std::vector<BufferIndex> taken_by_;    ///< By block: the last request that could not have it.
  std::vector<std::size_t> block_of_;    ///< By buffer.
};

}  // namespace

/// As an online allocator would: by first use, the first block of the class that is free.
Placement place_size_classes(const Problem& problem, const StrategyOptions& options) {
  BlockPool pool(problem, options.block_bytes);
  AllocatorCounts counts;
  for (const BufferIndex b : order_by_first_use(problem)) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.offset || buffer.bytes == 0) continue;
    ++(pool.request(b) ? counts.pool_hits : counts.system_allocations);
  }
  Placement placement = stack_blocks(problem, pool.blocks());
  placement.allocator = counts;
  return placement;
}

}  // namespace memverify
