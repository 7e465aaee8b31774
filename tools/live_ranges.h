// tools/live_ranges.h -- the memory of a drawn run: which bytes hold which tensor, and for how
// long.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tools/drawn_run.h"

namespace memverify {

/// One instance of an alias family in its bytes, from the start of its first access to the end of
/// its last one; a workspace from the start to the end of its op.
struct DrawnRange {
  TensorId root = kNone<TensorId>;  ///< kNone: a clobber of a pool's bytes.
  OpId op = kNone<OpId>;            ///< Of a clobber.
  std::int64_t instance = 0;        ///< Iteration; below 0: a value from before the first one.
  PoolId pool = kNone<PoolId>;
  ByteRange bytes;                  ///< From the first to the last byte of the root.
  std::int64_t start = 0, end = 0;  ///< In the time of the run; a value that is kept ends with it.
  std::int64_t counted_from = 0;    ///< Later than `start` if an op may make it in place.
  bool is_given = false;            ///< An input or constant.
  bool is_kept = false;             ///< An output, or given and not donated.
};

/// A part of a live range that is touched through a view, from its first access to its last one.
struct DrawnView {
  TensorId tensor = kNone<TensorId>;
  std::uint32_t range = 0;  ///< In DrawnMemory::ranges.
  ByteRange bytes;
  std::int64_t start = 0, end = 0;
};

/// The memory of one pool in a drawn run. Bytes.
struct PoolFigures {
  std::optional<std::int64_t> capacity, claimed;
  std::int64_t peak = 0;      ///< Highest end of a storage that is used.
  std::int64_t total = 0;     ///< Of all roots and their slots, had each its own bytes.
  std::int64_t live_set = 0;  ///< The most alive at once in this run: some run needs so much.
  std::int64_t live_at = 0;   ///< A time at which that is.
  std::vector<std::pair<std::int64_t, std::int64_t>> curve;  ///< Alive from that time on.
};

struct DrawnMemory {
  std::vector<DrawnRange> ranges;  ///< By first access, those that are given first.
  std::vector<DrawnView> views;    ///< That are smaller than their root.
  Table<PoolId, PoolFigures> pools;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reuse;  ///< Ranges: earlier, later.
};

/// Cost: n log n in the accesses of the run, and in the pairs of ranges that follow each other.
DrawnMemory drawn_memory(const Plan& plan, const DrawnRun& run);

}  // namespace memverify
