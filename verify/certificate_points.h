// verify/certificate_points.h -- states of all addresses for the checker: constant on ranges, the
// addresses numbered beforehand (*points*).
//
// Idea: a range starts where a mark is; the marks are bits with summaries of 64, so the range at a
//   point is found in a word or two, and its state lies in a flat array. Overwriting takes the
//   marks inside away, so each is paid for when it is made. The engine has the like of it
//   (verify/segment_map.h), of which the checker may know nothing.
// Cost: O(log_64 points) a lookup and a range visited.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memverify::cert {

/// A set of numbers from 0 to `greatest`.
class Marks {
 public:
  explicit Marks(std::size_t greatest) {
    do {
      greatest /= 64;
      levels_.emplace_back(greatest + 1, 0);
    } while (greatest > 0);
  }
  bool has(std::size_t x) const { return (levels_[0][x / 64] >> (x % 64) & 1) != 0; }
  void add(std::size_t x) {
    for (auto& words : levels_) {
      words[x / 64] |= std::uint64_t{1} << (x % 64);
      x /= 64;
    }
  }
  void take(std::size_t x) {
    for (auto& words : levels_) {
      words[x / 64] &= ~(std::uint64_t{1} << (x % 64));
      if (words[x / 64] != 0) return;
      x /= 64;
    }
  }
  /// The greatest that is at most x. There must be one.
  std::size_t up_to(std::size_t x, std::size_t level = 0) const {
    const std::uint64_t word = levels_[level][x / 64] << (63 - x % 64);
    if (word != 0) return x - static_cast<std::size_t>(std::countl_zero(word));
    const std::size_t other = up_to(x / 64 - 1, level + 1);
    return other * 64 + 63 - static_cast<std::size_t>(std::countl_zero(levels_[level][other]));
  }
  /// The least that is greater than x. There must be one.
  std::size_t after(std::size_t x, std::size_t level = 0) const {
    const std::uint64_t word = x % 64 == 63 ? 0 : levels_[level][x / 64] >> (x % 64 + 1);
    if (word != 0) return x + 1 + static_cast<std::size_t>(std::countr_zero(word));
    const std::size_t other = after(x / 64, level + 1);
    return other * 64 + static_cast<std::size_t>(std::countr_zero(levels_[level][other]));
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;
};

using Point = std::uint32_t;

struct PointRange {
  Point begin = 0, end = 0;
  bool operator==(const PointRange&) const = default;
};

/// States of the points 0 .. points - 1. State is small and without a heap.
template <typename State>
class PointMap {
 public:
  PointMap(Point points, State initial) : starts_(points), states_(points + std::size_t{1}) {
    starts_.add(0);
    starts_.add(points);
    states_[0] = initial;
  }
  /// visit(begin, end, State&) for the ranges that make up `range`.
  template <typename Visit>
  void visit(PointRange range, Visit&& visit) {
    if (range.begin >= range.end) return;
    split(range.begin);
    split(range.end);
    for (Point at = range.begin; at < range.end;) {
      const Point next = after(at);
      visit(at, next, states_[at]);
      at = next;
    }
  }
  template <typename Visit>
  void look(PointRange range, Visit&& visit) const {
    for (Point at = range.begin; at < range.end;) {
      const Point next = std::min(after(at), range.end);
      visit(at, next, states_[starts_.up_to(at)]);
      at = next;
    }
  }
  void assign(PointRange range, State state) {
    if (range.begin >= range.end) return;
    split(range.begin);
    split(range.end);
    for (Point at = after(range.begin); at < range.end; at = after(at)) starts_.take(at);
    states_[range.begin] = state;
  }

 private:
  Point after(Point at) const { return static_cast<Point>(starts_.after(at)); }
  void split(Point at) {
    if (starts_.has(at)) return;
    states_[at] = states_[starts_.up_to(at)];
    starts_.add(at);
  }
  Marks starts_;
  std::vector<State> states_;
};

}  // namespace memverify::cert
