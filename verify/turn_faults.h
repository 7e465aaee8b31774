// verify/turn_faults.h -- what reads find where commands take turns.
//
// Problem: under a mutex two commands may come in either order and yet never be open together. So
//   on bytes without a race it may still be a choice of the run which write a read finds.
// Idea: a read r that means the write e finds another write w if some run has w, then r, and none
//   of the other writes u between. Those that always come before r must come before w; that one
//   instant can have all of them behind it, w open and r ahead is one exact question, and mostly
//   the answer is no: what w writes is always written again before r. Of the other writes each
//   comes before w or not before r: for every choice look for a run in two parts, up to the start
//   of w and on to the start of r. If each part alone can be and no run is found, it is not known.
// Cost: on each interval of bytes whose accesses take turns, O(reads * writes * (writes + choices))
//   questions, of at most 64 choices.
// Tested by tests/unit/verify/one_semaphore_test.cpp, tests/agreement/one_semaphore_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "verify/expected.h"
#include "verify/footprint.h"
#include "verify/one_semaphore.h"
#include "verify/races.h"
#include "verify/sweep.h"

namespace memverify {

struct TurnFaults {
  std::vector<Suspect> suspects;  ///< Each with a run.
  std::string not_known;          ///< Not empty: why there may be more.
};

TurnFaults turn_faults(const Program& program, const Walk& walk, const Order& order,
                       const Footprints& footprints, const Expected& expected,
                       const Versions& versions, const std::vector<TurnPoints>& points,
                       OneSemaphore& semaphore);

}  // namespace memverify
