// planner/pool_limits.h -- what a graph asks of addresses, and how much room its pools have.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/apart.h"

namespace memverify {

struct PoolLimits {
  std::vector<std::int64_t> alignment;  ///< By tensor, an unplaced root: its family's, >= 1.
  std::vector<std::optional<std::int64_t>> capacity;  ///< By pool, least over all symbol values.
  std::vector<std::int64_t> fixed_end;    ///< By pool: highest end of the storages it has already,
  std::vector<std::int64_t> fixed_bytes;  ///< … and the sum of their sizes, all slots.
};

/// Over all symbol values that bound a size. Sizes must make sense there.
PoolLimits pool_limits(const Plan& graph, const ApartPlan& apart);

}  // namespace memverify
