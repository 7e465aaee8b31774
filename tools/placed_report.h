// tools/placed_report.h -- how many bytes a plan needs that is placed already.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/plan_graph.h"
#include "tools/plan_cache.h"
#include "tools/report.h"

namespace memverify {

struct PlacedPool {
  PoolId pool = kNone<PoolId>;
  std::int64_t peak = 0;                  ///< Highest end of a storage.
  std::optional<std::int64_t> available;  ///< As the user says.
  std::vector<StorageId> beyond;          ///< Storages that end beyond that.
  bool fits() const { return !available || peak <= *available; }
};

struct PlacedPeaks {
  std::vector<PlacedPool>
      pools;          ///< Those in use whose peak is known, and all that the user asks of.
  std::string error;  ///< Why they are not known.
  bool fits() const;
};

/// Over all symbol values; `how.available` is what the user asks of.
PlacedPeaks placed_peaks(const Plan& plan, const PlanGraphOptions& how);

std::string placed_text(const Plan& plan, const PlacedPeaks& peaks);
/// One JSON object and a newline. `bucket`: the values that the plan was looked up for; none: it
/// was not.
std::string placed_json(const Report& report, const PlacedPeaks& peaks,
                        const NamedNumbers& bucket = {});

}  // namespace memverify
