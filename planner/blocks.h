// planner/blocks.h -- buffers that do not clash, in blocks that share nothing with each other.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/problem.h"

namespace memverify {

/// A run of bytes as large as its largest buffer.
struct SharedBlock {
  std::int64_t bytes = 0;
  std::vector<BufferIndex> buffers;  ///< None clashes with another, none is fixed or empty.
};

/// Every block its own bytes, around the fixed buffers; alignments of its buffers are kept.
Placement stack_blocks(const Problem& problem, const std::vector<SharedBlock>& blocks);

}  // namespace memverify
