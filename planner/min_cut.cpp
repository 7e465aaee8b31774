#include "planner/min_cut.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <numeric>

#include "planner/first_flow.h"

namespace memverify {
namespace {

using CutGraph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, std::uint32_t, std::uint32_t>;
using CutEdge = CutGraph::edge_descriptor;

}  // namespace

std::vector<std::uint8_t> FlowNetwork::source_side() const {
  const std::vector<FlowArc> arcs = after_first_flow(arcs_, nodes_);
  // Each arc and its reverse, counting-sorted by where they start.
  std::vector<std::uint32_t> next(nodes_ + 1, 0);
  for (const FlowArc& arc : arcs) {
    ++next[arc.from + 1];
    ++next[arc.to + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends(2 * arcs.size());
  std::vector<std::int64_t> capacity(ends.size(), 0);
  std::vector<CutEdge> reverse(ends.size());
  for (const FlowArc& arc : arcs) {
    const std::uint32_t forth = next[arc.from]++;
    const std::uint32_t back = next[arc.to]++;
    ends[forth] = {arc.from, arc.to};
    ends[back] = {arc.to, arc.from};
    capacity[forth] = arc.capacity;
    reverse[forth] = {arc.to, back};
    reverse[back] = {arc.from, forth};
  }
  const CutGraph graph(boost::edges_are_sorted, ends.begin(), ends.end(), nodes_);
  ends = {};
  std::vector<std::int64_t> residual(capacity.size());
  const auto by_edge = boost::get(boost::edge_index, graph);
  boost::push_relabel_max_flow(graph, kSource, kSink,
                               boost::make_iterator_property_map(capacity.begin(), by_edge),
                               boost::make_iterator_property_map(residual.begin(), by_edge),
                               boost::make_iterator_property_map(reverse.begin(), by_edge),
                               boost::get(boost::vertex_index, graph));
  std::vector<std::uint8_t> reached(nodes_, 0);
  std::vector<std::uint32_t> stack{kSource};
  reached[kSource] = 1;
  while (!stack.empty()) {
    const std::uint32_t at = stack.back();
    stack.pop_back();
    const auto [begin, end] = boost::out_edges(at, graph);
    for (auto edge = begin; edge != end; ++edge) {
      const std::uint32_t to = boost::target(*edge, graph);
      if (reached[to] != 0 || residual[(*edge).idx] == 0) continue;
      reached[to] = 1;
      stack.push_back(to);
    }
  }
  return reached;
}

}  // namespace memverify
