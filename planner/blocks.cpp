#include "planner/blocks.h"

#include <numeric>

#include "planner/stack.h"

namespace memverify {

Placement stack_blocks(const Problem& problem, const std::vector<SharedBlock>& blocks) {
  Placement placement;
  for (const Buffer& buffer : problem.buffers) {
    placement.offsets.push_back(buffer.offset.value_or(0));
  }
  Stack stack(problem);
  for (const SharedBlock& block : blocks) {
    std::int64_t alignment = 1;
    for (const BufferIndex b : block.buffers) {
      alignment = std::lcm(alignment, problem.buffers[b].alignment);
    }
    const std::int64_t offset = stack.push(block.bytes, alignment);
    for (const BufferIndex b : block.buffers) placement.offsets[b] = offset;
  }
  placement.peak = peak_of(problem, placement.offsets);
  return placement;
}

}  // namespace memverify
