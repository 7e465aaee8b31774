// verify/stale.h -- which reads find another version than they mean.
//
// Problem: a read is right if every byte holds what its expected writer left there, in every run.
// Idea: on a byte without a race (verify/sweep.h) the order of accesses is the same in every run,
//   so what a read finds there is what a single run wrote last: that of the walk. Where the walk is
//   program order, as it is unless something waits for what is submitted later, what reads mean
//   and what they find come out of one pass, and nothing has to be kept.
// Cost: O(1) amortised an interval visited.
// Tested by tests/unit/verify/verify_test.cpp, tests/agreement.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/finding.h"
#include "plan/region.h"
#include "verify/expected.h"
#include "verify/footprint.h"
#include "verify/program.h"
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

/// What the reads of a program mean and find.
struct Reads {
  /// `keep`: for those who ask `expected`.
  Reads(const Program& program, const Walk& walk, const Footprints& footprints, bool keep);

  Versions versions;
  std::optional<Expected> expected;  ///< If kept, or the walk is not program order.
  std::vector<Suspect> suspects;     ///< In the order of the walk.
  /// Unknown commands that, reading all that they may, read what nobody wrote or a wrong version.
  std::vector<Cmd> amiss;
};

}  // namespace memverify
