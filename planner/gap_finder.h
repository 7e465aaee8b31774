// planner/gap_finder.h -- where a buffer fits beside those that are placed already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/neighbors.h"
#include "planner/problem.h"

namespace memverify {

enum class Fit {
  kLowest,       ///< The lowest offset.
  kSmallestGap,  ///< The gap that leaves least; above everything only when there is none.
};

/// A placement that grows. Empty buffers and fixed ones are in it from the start.
///
/// Cost of a query: O(placed) if live ranges decide, else O(c log c) for c clashes of the buffer.
class GapFinder {
 public:
  /// Both must outlive it.
  GapFinder(const Problem& problem, const Neighbors& neighbors);

  /// A multiple of the buffer's alignment where it meets no placed buffer that it clashes with.
  std::int64_t find(BufferIndex buffer, Fit fit);
  void place(BufferIndex buffer, std::int64_t offset);
  bool is_placed(BufferIndex buffer) const { return is_placed_[buffer] != 0; }
  std::int64_t peak() const { return placement_.peak; }

  /// Once all are placed.
  Placement take();

 private:
  /// Placed, in ascending order of offset.
  struct Block {
    std::int64_t begin;
    std::int64_t end;
    LiveRange live;
  };
  /// The buffer must not start strictly between the two.
  struct Barrier {
    std::int64_t after;
    std::int64_t before;
  };

  void gather_barriers(BufferIndex buffer);

  const Problem& problem_;
  const Neighbors& neighbors_;
  Placement placement_;
  std::vector<char> is_placed_;
  std::vector<Block> blocks_;  ///< Only if live ranges decide.
  std::vector<Barrier> barriers_;
};

/// Places the buffers in this order, which may leave out fixed and empty ones.
Placement place_in_order(const Problem& problem, const Neighbors& neighbors,
                         std::span<const BufferIndex> order, Fit fit);

}  // namespace memverify
