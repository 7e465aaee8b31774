// planner/in_place.h -- which buffers to put on top of each other where ops work in place.
//
// Problem: an op may write its result over what it reads, but only at exactly the same bytes; a
//   placement by clashes alone never does that.
// Idea: buffers that may share in place become one rigid buffer, the largest savings first, as long
//   as nothing else about the two groups clashes at those offsets.
// Cost: O(handoffs * clashes of the smaller group).
// Tested by tests/unit/planner/plan_graph_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/graph_clashes.h"

namespace memverify {

/// Each buffer lies at a fixed offset in a group.
struct Groups {
  std::vector<BufferIndex> group_of;    ///< By buffer; the group has the number of a member.
  std::vector<std::int64_t> offset_in;  ///< By buffer: from the start of its group, >= 0.
};

/// No two buffers together.
Groups no_groups(std::size_t buffers);

/// `alignments` by buffer; 0: it must stay alone.
Groups in_place_groups(const GraphClashes& clashes, std::span<const std::int64_t> bytes,
                       std::span<const std::int64_t> alignments);

}  // namespace memverify
