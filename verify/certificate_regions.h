// verify/certificate_regions.h -- the bytes that accesses touch, as ranges of small numbers.
//
// Problem: a pass over the bytes must look addresses up, and a strided access has a run of bytes
//   for each row: a pass that visits them all takes rows times accesses.
// Idea: the ends of all runs cut the addresses into pieces. Pieces that the same regions hold see
//   the same accesses, so one of them stands for all: the *point* of their class, numbered in the
//   order of first addresses. A region holds whole classes, therefore their first pieces, too: each
//   of its runs is the points that start in it, and a row that starts none is left out.
//   Pieces are told apart by the contiguous ends before them and by each strided region in turn.
// Cost: O(n log n) in the runs of different regions, and one hash look-up for each piece that a
//   strided region holds; beyond 2^26 of these every piece is a point.
// Tested by tests/unit/verify/certificate_regions_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "plan/region.h"
#include "verify/certificate_points.h"

namespace memverify::cert {

class Regions {
 public:
  /// Until number(), which `add` it was, for a region that is new; afterwards see points().
  using Id = std::uint32_t;
  Regions();
  /// Equal regions have one id.
  Id add(const Region& region);
  /// Once, after the last add().
  void number();

  /// The points of a region: a range, or (`end` is kList) a list of them that ranges() knows.
  static constexpr Point kList = 0xFFFFFFFFU;
  PointRange points(Id id) const {
    const std::uint32_t begin = begin_[id];
    return begin_[id + 1] - begin == 1 ? ranges_[begin] : PointRange{id, kList};
  }
  std::span<const PointRange> ranges(const PointRange& points) const {
    if (points.end != kList) return {&points, 1};
    const std::uint32_t begin = begin_[points.begin];
    return std::span(ranges_).subspan(begin, begin_[points.begin + 1] - begin);
  }
  /// One more than the greatest point.
  Point size() const { return static_cast<Point>(addresses_.size()); }
  /// The first byte of a point.
  std::int64_t address(Point point) const { return addresses_[point]; }

 private:
  struct Run {  ///< Before its ends are numbered.
    PoolId pool;
    ByteRange bytes;
  };
  struct Hash {
    std::size_t operator()(const Region& region) const { return region.hash(); }
  };
  Id add_contiguous(const Run& run);
  std::uint32_t& slot_of(const Run& run);
  std::vector<std::uint32_t> classes() const;
  void join_classes(const std::vector<std::uint32_t>& class_of);
  std::size_t count() const { return begin_.size() - 1; }

  std::vector<std::uint32_t> begin_;  ///< By id and one more: its runs, then its ranges.
  std::vector<Run> runs_;
  std::vector<std::uint32_t> slots_;  ///< A hash table of contiguous regions: ids and one.
  std::unordered_map<Region, Id, Hash> strided_;
  std::vector<PointRange> ranges_;
  std::vector<std::int64_t> addresses_;
};

}  // namespace memverify::cert
