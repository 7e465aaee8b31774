// planner/min_cut.h -- the least capacity that separates a source from a sink.
//
// Idea: a maximum flow, by push-relabel (Boost.Graph) from a first flow (planner/first_flow.h). On
//   networks of long rows push-relabel takes seconds where augmenting paths (Boykov and Kolmogorov)
//   take minutes.
// Cost: memory 90 bytes an arc; time that of a maximum flow.
// Reference: Goldberg and Tarjan 1988; Cherkassky and Goldberg 1997.
// Tested by tests/unit/planner/min_cut_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memverify {

struct FlowArc {
  std::uint32_t from = 0, to = 0;
  std::int64_t capacity = 0;
};

/// A directed network. Nodes 0 and 1 are the source and the sink.
class FlowNetwork {
 public:
  static constexpr std::uint32_t kSource = 0;
  static constexpr std::uint32_t kSink = 1;

  std::uint32_t add_node() { return nodes_++; }
  /// `capacity` >= 0. Nothing leads into the source or out of the sink; the sum of all that leave
  /// the source fits in 63 bits.
  void add_arc(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
    arcs_.push_back({from, to, capacity});
  }
  std::size_t arcs() const { return arcs_.size(); }

  /// By node: 1 if it is on the source's side of a minimum cut, the one with the fewest such nodes.
  std::vector<std::uint8_t> source_side() const;

 private:
  std::uint32_t nodes_ = 2;
  std::vector<FlowArc> arcs_;
};

}  // namespace memverify
