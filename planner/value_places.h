// planner/value_places.h -- where values begin: the middle of the network of lower_bound.h.
//
// Problem: "ends before the other begins" has up to values² pairs; a flow wants few arcs.
// Idea: a *place* is a set of commands that values begin with. Places form rows in which what has
//   ended before one has ended before the next: a chain of the order, or several of which the
//   commands of each place come after those of the place before. So what comes after a value is, in
//   each row, everything from one place on. An arc to that place is left out where one to another
//   row leads there too.
// Cost: O(values * rows) questions to the order, about eight arcs a value for 8 serial queues that
//   wait for each other all the time.
// Tested by tests/unit/planner/lower_bound_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "verify/order.h"

namespace memverify {

class ValuePlaces {
 public:
  explicit ValuePlaces(const Order& order) : order_(order) {}

  /// Notes that a value begins with these commands, not empty, none twice. Returns a number for
  /// them, which is the same for the same commands.
  std::uint32_t add(std::span<const Cmd> firsts);
  /// Sorts the places into rows. No `add` afterwards.
  void make_rows();
  std::size_t places() const { return places_.size(); }
  std::size_t rows() const { return rows_.size(); }

  /// Calls `arc(from, to)`, numbers of places: all that comes after a place is reached by arcs.
  void for_each_arc(const std::function<void(std::uint32_t, std::uint32_t)>& arc) const;

  /// Answers for one value after the other; fast if they come in the order of their first last
  /// command: by chain, then by position.
  class Cursor {
   public:
    explicit Cursor(const ValuePlaces& all) : all_(all), first_(all.rows_.size(), 0) {}
    /// The places from which arcs reach all that comes after all of `lasts`, which is not empty.
    std::span<const std::uint32_t> after(std::span<const Cmd> lasts);

   private:
    const ValuePlaces& all_;
    Cmd last_ = kNoCmd;
    std::vector<std::uint32_t> first_;  ///< By row: the first place after `last_`.
    std::vector<std::uint32_t> found_;
  };

 private:
  friend class Cursor;
  using Firsts = std::vector<Cmd>;
  bool is_after(std::uint32_t place, std::span<const Cmd> lasts) const;
  /// True only if all that ended before `from` has ended before `to`.
  bool implies(std::uint32_t from, std::uint32_t to) const;
  template <typename Good>
  std::uint32_t first_good(std::size_t row, std::uint32_t from, Good good) const;
  void prune(std::vector<std::uint32_t>& places) const;

  const Order& order_;
  std::map<Firsts, std::uint32_t> number_;
  std::vector<Firsts> places_;
  std::vector<std::vector<std::uint32_t>> rows_;  ///< Places, ascending.
};

}  // namespace memverify
