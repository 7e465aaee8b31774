// planner/direction_search.h -- is there a placement no higher than a target, where buffers clash
// in parts of theirs? Exact, depth first.
//
// Problem: OffsetSearch places buffers in ascending order of offset. Where parts clash, a buffer
// may
//   stand on one that begins above it, and there is no such order.
// Idea: of two parts that clash one is below the other. Once that is decided for some clashes, the
//   lowest offsets are longest paths over the decisions. If no other clash is violated at these
//   offsets, they are a placement; otherwise the search branches over the two ways to decide one.
// Cost: exponential; O(clashes + offsets raised) for a node.
// Example: [xx..] and [..yy] clash in x and y alone; both may have offset 0, for x is below y then.
// Tested by tests/unit/planner/optimal_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "planner/offset_search.h"
#include "planner/problem.h"

namespace memverify {

class DirectionSearch {
 public:
  /// `problem` must outlive it; its clashes are written down.
  explicit DirectionSearch(const Problem& problem);

  /// Gives up after `max_nodes` decisions or when `is_late`, asked now and then, says so.
  Fits search(std::int64_t target, std::uint64_t max_nodes, const std::function<bool()>& is_late);

  /// By buffer, after kYes.
  std::span<const std::int64_t> offsets() const { return lowest_; }
  /// Of all searches.
  std::uint64_t nodes() const { return nodes_; }

 private:
  /// `offset of the other + gap <= offset of this one`, seen from either.
  struct Arc {
    BufferIndex other;
    std::int64_t gap;
  };
  struct Change {
    std::int64_t* place;
    std::int64_t old;
  };
  /// The two ways to decide a clash, and how far each raises the upper one.
  struct Choice {
    std::size_t clash = 0;
    std::int64_t raise_second = 0;
    std::int64_t raise_first = 0;
    bool may_raise_second = true;
    bool may_raise_first = true;
    int ways() const { return (may_raise_second ? 1 : 0) + (may_raise_first ? 1 : 0); }
  };

  Fits solve();
  Fits decide(BufferIndex below, BufferIndex above, std::int64_t gap);
  bool is_violated(const Clash& clash) const;
  Choice choose() const;
  bool raise_tails(BufferIndex from, BufferIndex until);
  bool raise_offsets(BufferIndex from);
  void set(std::int64_t& place, std::int64_t value);
  void undo(std::size_t trail_size);

  const Problem& problem_;
  std::int64_t target_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t most_nodes_ = 0;
  bool gave_up_ = false;  ///< Somewhere; then "no" is not proven.
  const std::function<bool()>* is_late_ = nullptr;
  std::vector<std::int64_t> lowest_;     ///< By buffer: offset.
  std::vector<std::int64_t> tail_;       ///< By buffer: bytes from its offset to the highest top.
  std::vector<std::vector<Arc>> above_;  ///< By buffer: those decided to be above it.
  std::vector<std::vector<Arc>> below_;  ///< By buffer.
  std::vector<Change> trail_;
  std::vector<BufferIndex> waiting_;
};

}  // namespace memverify
