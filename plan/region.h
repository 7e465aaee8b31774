// plan/region.h -- sets of bytes inside one pool (docs/semantics.md, [S-2]).
//
// A Region is the only way memverify speaks of addresses. Offsets count bytes from the start of the
// pool and are never device pointers, so a plan means the same thing on every machine. They are
// signed, so that a plan with a negative address can be read and reported (MV108).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/ids.h"

namespace memverify {

struct StridedBox;

/// The bytes `[begin, end)`; empty when `begin >= end`.
struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool empty() const noexcept { return begin >= end; }
  bool operator==(const ByteRange&) const = default;
};

/// One dimension of a strided box.
struct Dim {
  std::int64_t count = 0;   ///< Elements, >= 0.
  std::int64_t stride = 0;  ///< Bytes from one element to the next; 0 and negative allowed.
  bool operator==(const Dim&) const = default;
};

/// A set of bytes of one pool: the bytes `base + sum(i_k * stride_k) + [0, run)` for
/// `0 <= i_k < count_k`, as far as they lie in the window that `clip` left.
///
/// Invariant (normal form): strides positive and descending, counts >= 2, no dimension that merges
/// with the run or with another; an empty region has no dims, run 0 and hull [0, 0). A contiguous
/// region has no dims and owns no heap memory; a region of one run is contiguous unless rows that
/// overlap without being multiples of each other fill it.
class Region {
 public:
  Region() = default;
  /// The `bytes` >= 0 contiguous bytes at `begin`; their end must fit in 64 bits (asserted).
  static Region contiguous(PoolId pool, std::int64_t begin, std::int64_t bytes);
  /// The bytes of a strided box: element 0 at `base`, each element `run` >= 0 contiguous bytes.
  /// nullopt if an address or distance needs more than 64 bits. O(d^2) for d dims.
  static std::optional<Region> strided(PoolId pool, std::int64_t base, std::int64_t run,
                                       std::span<const Dim> dims);

  PoolId pool() const noexcept { return pool_; }
  bool empty() const noexcept { return hull_.empty(); }
  bool is_contiguous() const noexcept { return dims_.empty(); }
  /// The least range that holds every byte (exact at both ends).
  ByteRange hull() const noexcept { return hull_; }

  /// Only the bytes that lie in `window`.
  Region clipped(ByteRange window) const;
  /// The same bytes, `offset` further on; nullopt if an address then needs more than 64 bits (even
  /// one that `clipped` cut away).
  std::optional<Region> shifted(std::int64_t offset) const;

  /// True iff some byte lies in both. Exact. O(1) for contiguous regions; else a bounded linear
  /// Diophantine problem, solved exactly (exponential only in the number of dims).
  bool overlaps(const Region& other) const;
  /// The first maximal range of bytes that lie in both; empty range when there is none.
  ByteRange first_overlap(const Region& other) const;
  /// True iff both are the same set of bytes. O(d) for boxes whose rows do not overlap, else linear
  /// in the runs.
  bool same_bytes(const Region& other) const;

  /// Equal descriptions of equal bytes; that of same bytes may differ where rows overlap.
  bool operator==(const Region&) const = default;
  std::size_t hash() const noexcept;  ///< Equal for equal descriptions.

  /// Number of maximal contiguous runs, at most `limit` (then `limit`).
  std::int64_t count_runs(std::int64_t limit) const;
  /// The maximal contiguous runs in ascending order, disjoint and not touching.
  std::vector<ByteRange> runs() const;

 private:
  friend StridedBox box_of(const Region& region);
  static Region from_box(PoolId pool, const StridedBox& box);
  bool is_clipped() const noexcept { return hull_.begin != base_ || hull_.end != box_end(); }
  std::int64_t box_end() const noexcept;

  PoolId pool_ = PoolId{0};
  std::int64_t base_ = 0;
  std::int64_t run_ = 0;
  ByteRange hull_;  ///< Also the window: a byte of the box outside it is not a byte of the region.
  std::vector<Dim> dims_;
};

/// True iff two different elements of the (not normalised) box share a byte; elements are `run`
/// bytes. Exact.
bool self_overlaps(std::int64_t run, std::span<const Dim> dims);

}  // namespace memverify
