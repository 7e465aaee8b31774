// verify/expected.h -- the version that every read means.
//
// Problem: the expected writer of a byte read is the last op before the reader *in program order*
//   that wrote that byte of that instance of the family (docs/semantics.md, [S-42]).
// Idea: one pass in program order over a segment map whose points are those of the families'
//   instances, so that other families at the same addresses do not matter.
// Cost: O(1) amortised an interval visited; reads with `from` look at the accumulates of their
//   family.
// Tested by tests/unit/verify/verify_test.cpp, tests/agreement.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "verify/footprint.h"
#include "verify/version.h"

namespace memverify {

/// Expected content of the family points `[begin, end)` (counted from the access's family_base).
struct ExpectedPiece {
  std::uint32_t begin = 0, end = 0;
  Version version = kUnwrittenVersion;
};

class Expected {
 public:
  /// Enters accumulates into `versions`. `halve`: if there are none, by two threads, each of which
  /// has families of its own; the result is the same.
  Expected(const Footprints& footprints, const Program& program, Versions& versions, bool halve);

  /// Pieces of a read (index of its AccessInstance), ascending, covering all its runs.
  std::span<const ExpectedPiece> of(std::uint32_t access) const {
    const Items items = first_[access];
    return std::span(pieces_[items.begin / kSecond])
        .subspan(items.begin % kSecond, items.end - items.begin);
  }

 private:
  friend class ExpectedMaker;
  static constexpr std::uint32_t kSecond = 1U << 31;  ///< Added to the places in the second list.
  std::vector<Items> first_;                          ///< By access.
  std::array<std::vector<ExpectedPiece>, 2> pieces_;  ///< By thread.
};

}  // namespace memverify
