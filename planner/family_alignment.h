// planner/family_alignment.h -- what the alignments that a graph states ask of its buffers.
//
// Problem: a root, and each view with an alignment of its own, must start at a multiple; what is
//   placed is the slot that the root begins in, or at some distance in it.
// Idea: the slot starts at a multiple of all of them, so what is left is where in it element 0
//   lies: the least distance that is right for all views (congruences, one after the other).
// Example: a view 4 bytes into its root asks for 8. With element 0 at 4, both start right.
// Tested by tests/unit/planner/plan_graph_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace memverify {

/// The least common multiple of all alignments that matter to unplaced tensors: their own, their
/// views', and those of the pools that they may go to.
struct CommonAlignment {
  std::int64_t bytes = 1;
  TensorId too_large = kNone<TensorId>;  ///< With this one it is more than `most`; `bytes` is not.
};
CommonAlignment common_alignment(const Plan& graph, std::int64_t most);

/// By tensor, an unplaced root: the least common multiple of what its family states, >= 1; of
/// others 1. All together must have one that fits in 64 bits.
std::vector<std::int64_t> family_alignments(const Plan& graph);

/// The start of a view, `offset` from its root's element 0 (may be negative), must be a multiple.
struct ViewAlignment {
  std::int64_t alignment = 1;
  std::int64_t offset = 0;
  bool operator==(const ViewAlignment&) const = default;
};

/// The least distance of element 0 from the start of its slot, at least `least` >= 0, that is right
/// for the root, in any pool it may go to, and for `views`. nullopt: none is.
std::optional<std::int64_t> aligned_element_0(const Plan& graph, TensorId root, std::int64_t least,
                                              std::span<const ViewAlignment> views);

}  // namespace memverify
