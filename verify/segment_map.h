// verify/segment_map.h -- a map from a range of points to states, constant on intervals.
//
// Problem: sweeps look up and overwrite ranges of addresses 10^6 times; a tree of intervals costs
//   seconds in cache misses.
// Idea: addresses are compressed to points beforehand, so the intervals are a bit set of their
//   first points with summary levels of 64 (a lookup of the interval around a point reads one word
//   a level) and a flat array of states. Overwriting a range removes the starts inside it, so a
//   start is paid for when it is made.
// Cost: O(log_64 n) a lookup, amortised O(1) an interval visited. Memory n * (sizeof(State) + 1/8).
// Tested by tests/unit/verify/segment_map_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memverify {

/// A set of the points 0..n-1 with predecessor and successor. Cost: one word a level of 64.
class PointSet {
 public:
  explicit PointSet(std::size_t points) {
    for (std::size_t n = points; levels_.empty() || n > 1;) {
      n = (n + 63) / 64;
      levels_.emplace_back(n, 0);
      if (n == 1) break;
    }
  }

  bool contains(std::size_t point) const {
    return (levels_[0][point / 64] >> (point % 64) & 1) != 0;
  }

  void insert(std::size_t point) {
    for (auto& level : levels_) {
      level[point / 64] |= std::uint64_t{1} << (point % 64);
      point /= 64;
    }
  }

  void erase(std::size_t point) {
    for (auto& level : levels_) {
      level[point / 64] &= ~(std::uint64_t{1} << (point % 64));
      if (level[point / 64] != 0) return;
      point /= 64;
    }
  }

  /// The greatest member <= point; there must be one.
  std::size_t at_or_before(std::size_t point) const {
    std::uint64_t word = levels_[0][point / 64] << (63 - point % 64);
    if (word != 0) return point - static_cast<std::size_t>(std::countl_zero(word));
    std::size_t level = 0;
    std::size_t place = point / 64;
    do {
      ++level;
      const std::uint64_t bits = levels_[level][place / 64];
      word = place % 64 == 0 ? 0 : bits << (64 - place % 64);
      if (word != 0) {
        place = place - 1 - static_cast<std::size_t>(std::countl_zero(word));
        break;
      }
      place /= 64;
    } while (true);
    while (level > 0) {
      --level;
      place = place * 64 + 63 - static_cast<std::size_t>(std::countl_zero(levels_[level][place]));
    }
    return place;
  }

  /// The least member > point, or `limit` if there is none below `limit`.
  std::size_t after(std::size_t point, std::size_t limit) const {
    std::size_t place = point + 1;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (place / 64 >= levels_[level].size()) return limit;
      const std::uint64_t word = levels_[level][place / 64] >> (place % 64);
      if (word != 0) {
        place += static_cast<std::size_t>(std::countr_zero(word));
        while (level > 0) {
          --level;
          place = place * 64 + static_cast<std::size_t>(std::countr_zero(levels_[level][place]));
        }
        return place < limit ? place : limit;
      }
      place = place / 64 + 1;
    }
    return limit;
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;
};

template <typename State>
class SegmentMap {
 public:
  /// Of the points `[first, last)`.
  SegmentMap(std::size_t first, std::size_t last, const State& initial)
      : first_(first), starts_(std::max<std::size_t>(last - first, 1)) {
    states_.resize(std::max<std::size_t>(last - first, 1));
    starts_.insert(0);
    states_[0] = initial;
  }

  /// Calls visit(begin, end, State&) for the intervals that make up [begin, end), in order; they
  /// are split so that none reaches outside.
  template <typename Visit>
  void visit(std::size_t begin, std::size_t end, Visit&& visit) {
    if (begin >= end) return;
    begin -= first_;
    end -= first_;
    split(begin);
    split(end);
    for (std::size_t at = begin; at < end;) {
      const std::size_t next = starts_.after(at, end);
      visit(first_ + at, first_ + next, states_[at]);
      at = next;
    }
  }

  /// Makes [begin, end) one interval with the given state.
  void assign(std::size_t begin, std::size_t end, const State& state) {
    if (begin >= end) return;
    begin -= first_;
    end -= first_;
    split(begin);
    split(end);
    for (std::size_t at = starts_.after(begin, end); at < end; at = starts_.after(at, end)) {
      starts_.erase(at);
    }
    states_[begin] = state;
  }

  /// As `visit`, without splitting: the states are those of the pieces.
  template <typename Visit>
  void look(std::size_t begin, std::size_t end, Visit&& visit) const {
    if (begin >= end) return;
    begin -= first_;
    end -= first_;
    std::size_t start = starts_.at_or_before(begin);
    for (std::size_t at = begin; at < end;) {
      const std::size_t next = starts_.after(start, end);
      visit(first_ + at, first_ + next, states_[start]);
      at = start = next;
    }
  }

 private:
  void split(std::size_t point) {
    if (point >= states_.size() || starts_.contains(point)) return;
    states_[point] = states_[starts_.at_or_before(point)];
    starts_.insert(point);
  }

  std::size_t first_;
  PointSet starts_;
  std::vector<State> states_;
};

}  // namespace memverify
