// planner/neighbors.h -- the clashes of a problem by buffer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "planner/problem.h"

namespace memverify {

/// Each clash seen from both of its buffers. Has no entries if live ranges decide: there may be
/// too many of them. Clashes of a pair stay together.
class Neighbors {
 public:
  struct Entry {
    BufferIndex other;
    ByteRange mine;
    ByteRange theirs;
  };
  explicit Neighbors(const Problem& problem);

  std::span<const Entry> of(BufferIndex buffer) const {
    return std::span(entries_).subspan(begins_[buffer], begins_[buffer + 1] - begins_[buffer]);
  }

 private:
  std::vector<Entry> entries_;
  std::vector<std::size_t> begins_;
};

/// For each buffer the number of clashes it has, also if live ranges decide. O(n log n + clashes).
std::vector<std::size_t> clash_counts(const Problem& problem);

/// The same problem with its clashes written down.
Problem with_clashes(const Problem& problem);

/// How many clashes `with_clashes` would have. O(n log n).
std::size_t count_clashes(const Problem& problem);

}  // namespace memverify
