// tools/branch_split.h -- a tensor of several paths as one tensor for each path.
//
// Problem: a tensor that ops use under `training` and others under its contrary has one address for
//   both, although no run needs it to: on each path it could lie where that path has room.
// Idea: each path but the first gets a tensor of its own. Where ops after the merge read it, the
//   path ends in a copy to the common one, unless both come to lie at the same place; the result is
//   one plan in which the ordinary verifier sees paths and copies alike.
// Example: `y` is made by `left` when `c` and by `right` when not, then read by `use`. `right`
// makes
//   `y@!c`; `copy y@!c`, when not `c`, comes between `right` and `use`.
// What is split: unplaced roots that are no inputs or constants, used by ops of at least two sets
//   of conditions that exclude each other; by ops without conditions only as a last read. The
//   others keep one place for all paths, and it is said why.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace memverify {

struct BranchSplit {
  std::string tensor;  ///< The root as it is in the graph.
  std::string own;     ///< What it is called on this path.
  nlohmann::json when;
  std::string copy;  ///< The op that copies `own` to `tensor`; "": nobody reads it after the merge.
  /// Old and new names of the root and its views.
  std::vector<std::pair<std::string, std::string>> family;
};

/// A root that several paths use, and which has one place all the same.
struct KeptTensor {
  std::string tensor;
  std::string why;  ///< "it is an input"
};

struct SplitGraph {
  nlohmann::json graph;
  std::vector<BranchSplit> splits;
  std::vector<KeptTensor> kept;
};

/// Tensors that are split only if the syncs of the graph suit them.
struct SplitOptions {
  bool merges = true;    ///< Those that need copies.
  bool rotating = true;  ///< Those with slots.
};

/// The graph is one that reads well.
SplitGraph split_branches(nlohmann::json graph, SplitOptions options);

/// In a plan made of such a graph: splits that lie where the tensor itself does are one with it
/// again, without a copy, and leave `splits`.
nlohmann::json join_branches(nlohmann::json plan, std::vector<BranchSplit>& splits);

/// "training,!cached"
std::string path_name(const nlohmann::json& when);

}  // namespace memverify
