// planner/offset_search.h -- is there a placement no higher than a target? Exact, depth first.
//
// Every placement can be pushed down until each buffer that is not fixed stands on 0 or on another
// one. Such a placement is found by placing buffers in ascending order of offset, each at the
// lowest offset above those that it clashes with and that are placed already: the search branches
// over which buffer comes next.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "planner/search_graph.h"

namespace memverify {

/// What a node is ordered by, the greatest first.
enum class OrderKey {
  kWidth,  ///< SearchGraph::Node::width.
  kArea,   ///< Width times bytes.
  kCrowd,  ///< Bytes of the heaviest clique that it is in, of those not placed.
};
using OrderKeys = std::array<OrderKey, 3>;

/// What the search prunes by. None changes an answer, only the number of nodes.
struct OffsetSearchSwitches {
  bool ascending = true;  ///< Only placements in ascending order of (offset, rank).
  bool left = true;       ///< In each clique, what is left must fit above its floor.
  bool dominance = true;  ///< Nothing starts at or above the lowest top of one not placed.
  bool hats = true;       ///< No alternatives to a buffer that nothing can stand on.
  bool parts = true;      ///< What shares no clique any more is placed on its own (intervals).
};

enum class Fits { kYes, kNo, kGaveUp };

class OffsetSearch {
 public:
  /// `graph` must outlive it.
  OffsetSearch(const SearchGraph& graph, OffsetSearchSwitches switches);

  /// Where their offsets are equal the search prefers nodes in the order of these keys. Gives up
  /// after `max_nodes` placed buffers or when `is_late`, asked now and then, says so.
  Fits search(std::int64_t target, const OrderKeys& order, std::uint64_t max_nodes,
              const std::function<bool()>& is_late);

  /// By node, after kYes.
  std::span<const std::int64_t> offsets() const { return offsets_; }
  /// Of all searches.
  std::uint64_t nodes() const { return nodes_; }

 private:
  struct Change {
    std::int64_t* place;
    std::int64_t old;
  };
  struct Candidate {
    std::int64_t offset;
    std::int64_t rank;
    std::uint32_t node;
  };
  /// A part of the problem: its nodes not placed, by rank, at the end of `open_`.
  struct Part {
    std::size_t begin;
    std::size_t end;
    std::int64_t last_offset;
    std::int64_t last_rank;
    std::uint32_t first_clique;  ///< Its nodes are in these cliques only.
    std::uint32_t end_clique;
  };

  void reset(std::int64_t target, const OrderKeys& order);
  void rank(std::size_t begin, std::size_t end);
  double key_of(std::uint32_t node, OrderKey key) const;
  Fits solve(const Part& part);
  Fits solve_after(const Part& part, std::uint32_t placed);
  Fits solve_parts(const Part& part);
  bool place(std::uint32_t node, std::int64_t offset, bool& has_hat);
  bool update_clique(std::uint32_t clique);
  bool leaves_room(const Part& part, std::int64_t offset) const;
  void set(std::int64_t& place, std::int64_t value);
  void undo(std::size_t trail_size);

  const SearchGraph& graph_;
  const OffsetSearchSwitches switches_;
  OrderKeys order_ = {};
  std::int64_t target_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t most_nodes_ = 0;
  const std::function<bool()>* is_late_ = nullptr;

  std::vector<std::int64_t> offsets_;  ///< By node; -1: not placed.
  std::vector<std::int64_t> lowest_;   ///< By node: above all placed ones that it clashes with.
  std::vector<std::int64_t> rank_;     ///< By node.
  std::vector<std::int64_t> floor_;    ///< By clique: least `lowest_` of those not placed.
  std::vector<std::int64_t> left_;     ///< By clique: bytes of those not placed.
  std::vector<std::int64_t> cuts_;     ///< By clique: how many not placed are in the next one too.
  std::vector<Change> trail_;
  std::vector<std::uint32_t> open_;
  std::vector<std::uint32_t> touched_;  ///< Cliques, in `place`.
  std::vector<std::uint32_t> mark_;     ///< By clique.
  std::uint32_t mark_now_ = 0;
};

}  // namespace memverify
