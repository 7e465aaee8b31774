// planner/problem.h -- what a strategy places: buffers, and which of their bytes must not meet.
//
// A problem is one pool. Where it comes from (happens-before of a graph, live ranges of a file) is
// no concern of a strategy; that two buffers may share bytes is nothing but the absence of a clash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/region.h"

namespace memverify {

using BufferIndex = std::uint32_t;

/// A rigid run of bytes that gets one address.
struct Buffer {
  std::string name;                    ///< For messages; may be empty.
  std::int64_t bytes = 0;              ///< >= 0.
  std::int64_t alignment = 1;          ///< >= 1; the offset is a multiple of it.
  std::optional<std::int64_t> offset;  ///< Where it has to be.
};

/// A live range on one order of steps, half-open.
struct LiveRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const LiveRange&) const = default;
};

/// Bytes `of_first` of buffer `first` and bytes `of_second` of buffer `second`, both relative to
/// their buffer and not empty, must have different addresses. A pair may clash in several ways.
struct Clash {
  BufferIndex first = 0;
  BufferIndex second = 0;  ///< > first.
  ByteRange of_first;
  ByteRange of_second;
};

struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Clash> clashes;  ///< Sorted by (first, second).
  /// Two buffers clash, with all their bytes, iff their live ranges intersect; `clashes` is empty.
  /// For problems with so many clashes that they should not be written down.
  bool live_ranges_decide = false;
  std::vector<LiveRange>
      live_ranges;  ///< By buffer, of its first to its last use in a fixed order of steps:
                    ///< a hint for `greedy-death` and the like; empty: none.
  std::optional<std::int64_t> capacity;  ///< Bytes; nullopt: unlimited. A search aims at it first,
  bool capacity_is_enough = false;       ///< … and ends there, or else goes on to lower peaks.
  std::int64_t lower_bound = 0;  ///< Bytes that every placement needs; a strategy may stop there.

  /// True iff nobody asks for a lower peak.
  bool is_enough(std::int64_t peak) const {
    return peak <= lower_bound || (capacity_is_enough && capacity && peak <= *capacity);
  }
};

/// What an online allocator with a pool of blocks would do.
struct AllocatorCounts {
  std::int64_t pool_hits = 0;           ///< Requests that got a block which was free again.
  std::int64_t system_allocations = 0;  ///< Requests that needed a new one.
  /// System allocations for each request, in [0, 1]: a hit costs nothing. 0 without a request.
  double amortised_cost() const {
    const std::int64_t requests = pool_hits + system_allocations;
    return requests == 0 ? 0
                         : static_cast<double>(system_allocations) / static_cast<double>(requests);
  }
};

/// The offset of each buffer, multiples of its alignment, >= 0.
struct Placement {
  std::vector<std::int64_t> offsets;
  std::int64_t peak = 0;    ///< Highest end of a buffer that is not empty; 0 without one.
  bool is_optimal = false;  ///< Proven: no placement has a lower peak.
  std::uint64_t nodes = 0;  ///< Of a search.
  std::optional<AllocatorCounts> allocator;  ///< Of `size-classes`.
};

/// What is wrong with `placement`, for people; empty: nothing. Compares every clash, shares nothing
/// with the strategies. Cost O(buffers + clashes), O(n log n) if live ranges decide.
std::string fault_of(const Problem& problem, const Placement& placement);

/// The same for the fixed buffers alone: no strategy can mend them.
std::string fault_of_fixed(const Problem& problem);

}  // namespace memverify
