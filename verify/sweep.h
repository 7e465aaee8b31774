// verify/sweep.h -- which bytes race.
//
// Problem: a race is a pair of conflicting accesses that happens-before does not order; all pairs
//   are too many.
// Idea: walk a linear extension of happens-before. On a byte the accesses form groups of what does
//   not conflict: reads, commuting accumulates, single writes. If every access is ordered after the
//   whole group before its own, then all conflicting pairs are ordered, by composition; so a byte
//   on which some pair races shows it between neighbouring groups. Of a group only the last member
//   of each chain counts.
// Cost: O(accesses * chains in a group), amortised, plus the intervals that accesses are cut into.
// Tested by tests/unit/verify/verify_test.cpp, tests/agreement.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "verify/footprint.h"
#include "verify/order.h"
#include "verify/stale.h"
#include "verify/walk.h"

namespace memverify {

/// A set of points.
class PointMarks {
 public:
  explicit PointMarks(std::size_t points) : words_((points + 63) / 64, 0) {}
  void mark(std::size_t begin, std::size_t end);
  /// The least marked point in `[begin, end)`, or `end`.
  std::size_t first(std::size_t begin, std::size_t end) const { return first(begin, end, 0); }
  /// The least point in `[begin, end)` that is not marked, or `end`.
  std::size_t first_not(std::size_t begin, std::size_t end) const {
    return first(begin, end, ~std::uint64_t{0});
  }

 private:
  std::size_t first(std::size_t begin, std::size_t end, std::uint64_t flip) const;
  std::vector<std::uint64_t> words_;
};

struct SweepResult {
  explicit SweepResult(std::size_t points) : racy(points) {}
  PointMarks racy;
  bool has_race = false;
  /// Unknown commands that leave the plan unproven, each with another that touches bytes which it
  /// may touch too; kEndOfRun if it is the end that does, or the command alone.
  std::map<Cmd, Cmd> unknowns;
  std::uint64_t pairs_checked = 0;
};

SweepResult sweep(const Walk& walk, const Order& order, const Footprints& footprints);

/// Where a plan has unknown commands: takes out of the suspects of `reads` the bytes that one of
/// them may have touched, which leaves the plan unproven, and notes that in `swept`.
void leave_out_unknowns(const Footprints& footprints, Reads& reads, SweepResult& swept);

}  // namespace memverify
