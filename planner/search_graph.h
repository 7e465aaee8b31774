// planner/search_graph.h -- a problem as the exact search wants it: whole clashes and cliques.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/problem.h"

namespace memverify {

/// Lists of small numbers, one after the other.
class Lists {
 public:
  void push(std::uint32_t value) { values_.push_back(value); }
  void close() { ends_.push_back(static_cast<std::uint32_t>(values_.size())); }
  std::size_t size() const { return ends_.size(); }
  std::span<const std::uint32_t> operator[](std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(values_).subspan(begin, ends_[i] - begin);
  }

 private:
  std::vector<std::uint32_t> values_;
  std::vector<std::uint32_t> ends_;
};

/// The buffers that are not empty, called nodes. Each pair that clashes has an edge and a clique.
struct SearchGraph {
  struct Node {
    std::int64_t bytes = 0;
    std::int64_t alignment = 1;
    std::int64_t fixed = -1;  ///< Where it has to be; -1: anywhere.
    std::int64_t width = 0;   ///< How long it lives, or how many it clashes with.
  };
  std::vector<BufferIndex> buffers;  ///< By node.
  std::vector<Node> nodes;
  Lists neighbors;   ///< By node.
  Lists cliques;     ///< Nodes of which any two clash, by clique.
  Lists cliques_of;  ///< By node, ascending.
  /// The cliques stand in the order of steps, and each node is in successive ones.
  bool is_interval = false;
};

/// True iff two buffers clash just where their live ranges intersect, written down or not.
bool is_interval_problem(const Problem& problem);

/// nullopt if two buffers clash with less than all their bytes. Interval problems are recognised
/// even if their clashes are written down. Cost O(clashes · largest clique), and O(n²) memory for
/// others.
std::optional<SearchGraph> search_graph(const Problem& problem);

}  // namespace memverify
