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
      const bool is_first = level[point / 64] == 0;
      level[point / 64] |= std::uint64_t{1} << (point % 64);
      if (!is_first) return;
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
    const std::uint64_t word = levels_[0][point / 64] << (63 - point % 64);
    if (word != 0) return point - static_cast<std::size_t>(std::countl_zero(word));
    return before_word(point);
  }

  /// The least member > point, or `limit`, which is at most n, if there is none below it.
  std::size_t after(std::size_t point, std::size_t limit) const {
    const std::size_t place = point + 1;
    if (place >= limit) return limit;
    const std::uint64_t word = levels_[0][place / 64] >> (place % 64);
    if (word != 0) return std::min(limit, place + static_cast<std::size_t>(std::countr_zero(word)));
    return after_word(place / 64, limit);
  }

 private:
  /// The least member in the words after that one, or `limit`.
  std::size_t after_word(std::size_t word_before, std::size_t limit) const {
    std::size_t place = word_before + 1;
    for (std::size_t level = 1; place << (6 * level) < limit; ++level) {
      const std::uint64_t word = levels_[level][place / 64] >> (place % 64);
      if (word != 0) {
        place += static_cast<std::size_t>(std::countr_zero(word));
        for (; level > 0; --level) {
          place =
              place * 64 + static_cast<std::size_t>(std::countr_zero(levels_[level - 1][place]));
        }
        return std::min(place, limit);
      }
      place = place / 64 + 1;
    }
    return limit;
  }

  /// The greatest member in the words before that of `point`.
  std::size_t before_word(std::size_t point) const {
    std::size_t level = 0;
    std::size_t place = point / 64;
    do {
      ++level;
      const std::uint64_t bits = levels_[level][place / 64];
      const std::uint64_t word = place % 64 == 0 ? 0 : bits << (64 - place % 64);
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

  std::vector<std::vector<std::uint64_t>> levels_;
};

template <typename State>
class SegmentMap {
 public:
  SegmentMap(std::size_t points, const State& initial)
      : starts_(std::max<std::size_t>(points, 1)), states_(std::max<std::size_t>(points, 1)) {
    starts_.insert(0);
    states_[0] = initial;
  }
  /// The same cut into intervals: for_each_start(visit) calls visit(point) where one begins.
  template <typename ForEachStart>
  SegmentMap(std::size_t points, const State& initial, ForEachStart&& for_each_start)
      : starts_(std::max<std::size_t>(points, 1)),
        states_(std::max<std::size_t>(points, 1), initial) {
    starts_.insert(0);
    for_each_start([&](std::size_t point) { starts_.insert(point); });
  }

  /// The state of [begin, end) if that is one interval, else nullptr.
  State* exact(std::size_t begin, std::size_t end) {
    const bool ends = end == states_.size() || starts_.contains(end);
    if (!ends || !starts_.contains(begin) || starts_.after(begin, end) != end) return nullptr;
    return &states_[begin];
  }

  /// Calls visit(begin, end, State&) for the intervals that make up [begin, end), in order; they
  /// are split so that none reaches outside.
  template <typename Visit>
  void visit(std::size_t begin, std::size_t end, Visit&& visit) {
    if (begin >= end) return;
    split(begin);
    split(end);
    for (std::size_t at = begin; at < end;) {
      const std::size_t next = starts_.after(at, end);
      visit(at, next, states_[at]);
      at = next;
    }
  }

  /// Makes [begin, end) one interval with the given state.
  void assign(std::size_t begin, std::size_t end, const State& state) {
    if (begin >= end) return;
    split(begin);
    split(end);
    for (std::size_t at = starts_.after(begin, end); at < end; at = starts_.after(at, end)) {
      starts_.erase(at);
    }
    states_[begin] = state;
  }

  /// The state of all of [begin, end), not empty, or nullptr if it is more than one interval.
  const State* whole(std::size_t begin, std::size_t end) const {
    if (starts_.after(begin, end) != end) return nullptr;
    return &states_[starts_.at_or_before(begin)];
  }

  /// As `visit`, without splitting: the states are those of the pieces.
  template <typename Visit>
  void look(std::size_t begin, std::size_t end, Visit&& visit) const {
    if (begin >= end) return;
    std::size_t start = starts_.at_or_before(begin);
    for (std::size_t at = begin; at < end;) {
      const std::size_t next = starts_.after(start, end);
      visit(at, next, states_[start]);
      at = start = next;
    }
  }

 private:
  void split(std::size_t point) {
    if (point < states_.size() && !starts_.contains(point)) start(point);
  }
  void start(std::size_t point) {
    states_[point] = states_[starts_.at_or_before(point)];
    starts_.insert(point);
  }

  PointSet starts_;
  std::vector<State> states_;
};

}  // namespace memverify
