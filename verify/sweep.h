// verify/sweep.h -- which bytes race, and which reads find another version than they mean.
//
// Problem: a race is a pair of conflicting accesses that happens-before does not order; all pairs
//   are too many.
// Idea: walk a linear extension of happens-before. On a byte the accesses form groups of what does
//   not conflict: reads, commuting accumulates, single writes. If every access is ordered after the
//   whole group before its own, then all conflicting pairs are ordered, by composition; so a byte
//   on which some pair races shows it between neighbouring groups. Of a group only the last member
//   of each chain counts. On a byte without a race the order of accesses is the same in every run,
//   so what a read finds there is what the walk wrote last.
// Cost: O(accesses * chains in a group), amortised, plus the intervals that accesses are cut into.
//   Two threads can share that, each with points of its own.
// Tested by tests/unit/verify/verify_test.cpp, tests/agreement.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/finding.h"
#include "plan/region.h"
#include "verify/expected.h"
#include "verify/footprint.h"
#include "verify/order.h"
#include "verify/version.h"
#include "verify/walk.h"

namespace memverify {

/// A read (index of its AccessInstance) that finds `actual` on some bytes instead of `expected`.
struct Suspect {
  std::uint32_t access = 0;
  std::uint32_t begin = 0, end = 0;  ///< Points that hold those bytes.
  ByteRange bytes;                   ///< In the pool.
  Version expected = kUnwrittenVersion;
  Version actual = kInitialVersion;
  std::vector<Step> run;  ///< A run that shows it; empty: any run up to the reader does.
};

/// A set of points.
class PointMarks {
 public:
  explicit PointMarks(std::size_t points) : words_((points + 63) / 64, 0) {}
  void mark(std::size_t begin, std::size_t end);
  /// Those of `other`, which has as many points, too.
  void mark(const PointMarks& other);
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
  /// In the order of the walk; those on racy bytes included, those on bytes that an unknown command
  /// may touch left out.
  std::vector<Suspect> suspects;
  /// Unknown commands that leave the plan unproven, each with another that touches bytes which it
  /// may touch too; kEndOfRun if it is the end that does, or the command alone.
  std::vector<std::pair<Cmd, Cmd>> unknowns;
  std::uint64_t pairs_checked = 0;
  bool sees_fault() const { return has_race || !suspects.empty() || !unknowns.empty(); }
};

/// `halve`: by two threads if they find the same as one.
SweepResult sweep(const Program& program, const Walk& walk, const Order& order,
                  const Footprints& footprints, const Expected& expected, Versions& versions,
                  bool halve);

}  // namespace memverify
