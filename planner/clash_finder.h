// planner/clash_finder.h -- which buffers clash with one, however the problem says so.
#pragma once

#include <span>
#include <vector>

#include "planner/neighbors.h"
#include "planner/problem.h"

namespace memverify {

/// Writes no clash down: live ranges may decide millions of them. Cost of a query: the clashes of
/// the buffer, or if live ranges decide the buffers that begin before it ends.
class ClashFinder {
 public:
  /// Both must outlive it.
  ClashFinder(const Problem& problem, const Neighbors& neighbors);

  /// Each once, in no order that matters; valid until the next call.
  std::span<const BufferIndex> of(BufferIndex buffer);

  /// Calls `visit(other, mine, theirs)` for each clash, in this buffer's view.
  template <typename Visit>
  void visit(BufferIndex buffer, Visit visit) {
    if (!problem_.live_ranges_decide) {
      for (const Neighbors::Entry& entry : neighbors_.of(buffer)) {
        visit(entry.other, entry.mine, entry.theirs);
      }
      return;
    }
    const ByteRange mine = {0, problem_.buffers[buffer].bytes};
    for (const BufferIndex other : of(buffer)) {
      visit(other, mine, ByteRange{0, problem_.buffers[other].bytes});
    }
  }

 private:
  const Problem& problem_;
  const Neighbors& neighbors_;
  std::vector<std::int64_t> begins_;  ///< Of what is live for a while, ascending.
  std::vector<std::int64_t> ends_;    ///< The same buffers'.
  std::vector<BufferIndex> by_begin_;
  std::vector<BufferIndex> found_;
};

}  // namespace memverify
