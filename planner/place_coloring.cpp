#include <boost/graph/graph_traits.hpp>
#include <boost/graph/sequential_vertex_coloring.hpp>
#include <boost/iterator/counting_iterator.hpp>

#include "planner/blocks.h"
#include "planner/clash_finder.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

/// The conflict graph as Boost wants to see one. Neighbours are found when they are asked for:
/// written down, the edges of a large table would not fit into memory.
struct ConflictGraph {
  ClashFinder* clashes;
  std::size_t buffers;
};

}  // namespace
}  // namespace memverify

template <>
struct boost::graph_traits<memverify::ConflictGraph> {
  using vertex_descriptor = memverify::BufferIndex;
  using vertices_size_type = std::size_t;
  using vertex_iterator = boost::counting_iterator<memverify::BufferIndex>;
  using adjacency_iterator = const memverify::BufferIndex*;
  using directed_category = boost::undirected_tag;
  using edge_parallel_category = boost::disallow_parallel_edge_tag;
  struct traversal_category : boost::adjacency_graph_tag, boost::vertex_list_graph_tag {};
};

namespace memverify {
namespace {

using ConflictTraits = boost::graph_traits<ConflictGraph>;

std::size_t num_vertices(const ConflictGraph& graph) { return graph.buffers; }

std::pair<ConflictTraits::vertex_iterator, ConflictTraits::vertex_iterator> vertices(
    const ConflictGraph& graph) {
  return {ConflictTraits::vertex_iterator(0),
          ConflictTraits::vertex_iterator(static_cast<BufferIndex>(graph.buffers))};
}

/// Valid until asked again, which the colouring does only once it is done with them.
std::pair<const BufferIndex*, const BufferIndex*> adjacent_vertices(BufferIndex b,
                                                                    const ConflictGraph& graph) {
  const std::span<const BufferIndex> found = graph.clashes->of(b);
  return {found.data(), found.data() + found.size()};
}

}  // namespace

/// One block for each colour of the conflict graph, the largest buffers coloured first.
/// Cost O(n + clashes), O(n²) if live ranges decide.
Placement place_coloring(const Problem& problem, const StrategyOptions&) {
  const Neighbors neighbors(problem);
  ClashFinder clashes(problem, neighbors);
  const ConflictGraph graph = {&clashes, problem.buffers.size()};
  const std::vector<BufferIndex> order = order_by_size(problem);
  std::vector<std::size_t> color(problem.buffers.size());
  const std::size_t colors = boost::sequential_vertex_coloring(
      graph, boost::make_iterator_property_map(order.begin(), boost::identity_property_map()),
      boost::make_iterator_property_map(color.begin(), boost::identity_property_map()));
  std::vector<SharedBlock> blocks(colors);
  for (BufferIndex b = 0; b < color.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.offset || buffer.bytes == 0) continue;
    SharedBlock& block = blocks[color[b]];
    block.bytes = std::max(block.bytes, buffer.bytes);
    block.buffers.push_back(b);
  }
  std::erase_if(blocks, [](const SharedBlock& block) { return block.buffers.empty(); });
  return stack_blocks(problem, blocks);
}

}  // namespace memverify
