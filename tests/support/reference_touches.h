// tests/support/reference_touches.h -- which bytes the commands of the reference's program touch.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/support/reference_program.h"

namespace memverify::testing {

using Address = std::pair<PoolId, std::int64_t>;

/// What a touch was made from.
struct TouchSource {
  bool from_initial = false;
  OpId from = kNone<OpId>;
  std::vector<Address> addresses;
};

struct TouchBytes {
  std::map<Touch*, TouchSource> sources;  ///< Of the program's touches, where they are.
  std::vector<Address> representative;    ///< Per byte of the program.
};

/// Gives the commands and the end of `program` their touches, and bytes their numbers and initial
/// versions. The touches must not move afterwards.
TouchBytes touch_bytes(Program& program, const Sizes& sizes);

}  // namespace memverify::testing
