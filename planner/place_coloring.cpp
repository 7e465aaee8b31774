#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/sequential_vertex_coloring.hpp>

#include "planner/blocks.h"
#include "planner/neighbors.h"
#include "planner/orders.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

using ConflictGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

}  // namespace

/// One block for each colour of the conflict graph, the largest buffers coloured first.
Placement place_coloring(const Problem& problem, const StrategyOptions&) {
  ConflictGraph graph(problem.buffers.size());
  const Problem listed = with_clashes(problem);
  for (std::size_t i = 0; i < listed.clashes.size(); ++i) {
    const Clash& clash = listed.clashes[i];
    const bool is_new = i == 0 || listed.clashes[i - 1].first != clash.first ||
                        listed.clashes[i - 1].second != clash.second;
    if (is_new) boost::add_edge(clash.first, clash.second, graph);
  }
  std::vector<std::size_t> order;
  for (const BufferIndex b : order_by_size(problem)) order.push_back(b);
  std::vector<std::size_t> color(problem.buffers.size());
  const auto index = boost::get(boost::vertex_index, graph);
  const std::size_t colors = boost::sequential_vertex_coloring(
      graph, boost::make_iterator_property_map(order.begin(), boost::identity_property_map()),
      boost::make_iterator_property_map(color.begin(), index));
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
