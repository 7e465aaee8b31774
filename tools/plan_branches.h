// tools/plan_branches.h -- one place for all paths against a place for each, with both prices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/json_text.h"
#include "tools/branch_split.h"
#include "tools/planning.h"

namespace memverify {

using PoolPeaks = std::vector<std::pair<PoolId, std::int64_t>>;  ///< Bytes, of pools in use.

/// What a path needs of each pool: the highest end of what its ops touch, and of inputs, constants
/// and outputs.
struct PathPeaks {
  std::string path;  ///< As `path_name` says.
  PoolPeaks peaks;
};

struct BranchCopy {
  std::string op, from, to;
  std::int64_t bytes = 0;
};

struct BranchPrices {
  PoolPeaks together;              ///< One place for all paths.
  PoolPeaks separate;              ///< A place for each path.
  std::vector<PathPeaks> paths;    ///< Of that; none where there are many conditions.
  std::vector<BranchCopy> copies;  ///< Of that.
  std::size_t split = 0;           ///< Tensors that lie elsewhere on some path.
  std::vector<KeptTensor> kept;    ///< Those that several paths use at one place.
};

/// The graph with its tensors split by path, and a plan of it.
struct SeparatePlan {
  Plan graph;
  Planning planning;  ///< Its plan has what lies at the same place joined again.
  std::vector<BranchSplit> splits;
};

struct PathPlanning {
  /// nullopt: there is nothing to split, or the syncs of the graph leave no room for it.
  std::optional<SeparatePlan> plan;
  std::vector<KeptTensor> kept;
};

/// Takes `how.strategy.max_seconds`, besides proofs.
PathPlanning plan_by_path(const std::string& file, const Plan& graph, const PlanGraphOptions& how);

/// `together` and `separate` were planned for the same graph.
BranchPrices branch_prices(const Planning& together, const PathPlanning& separate);

std::string branches_text(const Plan& graph, const BranchPrices& prices);
/// The member `branches` of an object that is open.
void add_branches(JsonText& json, const Plan& graph, const BranchPrices& prices);

}  // namespace memverify
