#include "planner/search_graph.h"

#include <algorithm>
#include <numeric>

#include "planner/neighbors.h"

namespace memverify {
namespace {

bool are_whole(const Problem& problem) {
  return std::ranges::all_of(problem.clashes, [&](const Clash& clash) {
    return clash.of_first == ByteRange{0, problem.buffers[clash.first].bytes} &&
           clash.of_second == ByteRange{0, problem.buffers[clash.second].bytes};
  });
}

}  // namespace

bool is_interval_problem(const Problem& problem) {
  if (problem.live_ranges_decide) return true;
  if (problem.live_ranges.empty()) return false;
  Problem same = problem;
  same.clashes.clear();
  same.live_ranges_decide = true;
  if (count_clashes(same) != problem.clashes.size()) return false;
  return std::ranges::all_of(problem.clashes, [&](const Clash& clash) {
    const LiveRange& a = problem.live_ranges[clash.first];
    const LiveRange& b = problem.live_ranges[clash.second];
    return a.begin < b.end && b.begin < a.end && a.begin < a.end && b.begin < b.end;
  });
}

namespace {

/// One clique for each step after which a buffer dies and before which one began since the last.
void add_interval_cliques(const Problem& problem, SearchGraph& graph) {
  struct Event {
    std::int64_t step;
    bool begins;  ///< Ends come first.
    std::uint32_t node;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  std::vector<std::uint32_t> live;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const LiveRange range = problem.live_ranges[graph.buffers[n]];
    graph.nodes[n].width = range.end - range.begin;
    if (range.begin >= range.end) {  // Clashes with nothing.
      graph.cliques.push(n);
      graph.cliques.close();
      continue;
    }
    events.push_back({range.begin, true, n});
    events.push_back({range.end, false, n});
  }
  std::ranges::sort(events);
  bool has_grown = false;
  for (const Event& event : events) {
    if (event.begins) {
      live.push_back(event.node);
    } else {
      if (has_grown) {
        for (const std::uint32_t n : live) graph.cliques.push(n);
        graph.cliques.close();
      }
      std::erase(live, event.node);
    }
    has_grown = event.begins;
  }
}

/// For each edge that no clique holds yet, one grown around it, the heaviest nodes first.
void add_greedy_cliques(SearchGraph& graph) {
  const std::size_t count = graph.nodes.size();
  std::vector<std::uint32_t> by_bytes(count);
  std::iota(by_bytes.begin(), by_bytes.end(), 0U);
  std::ranges::stable_sort(by_bytes, std::ranges::greater{},
                           [&](std::uint32_t n) { return graph.nodes[n].bytes; });
  std::vector<std::vector<char>> is_edge(count, std::vector<char>(count, 0));
  for (std::uint32_t n = 0; n < count; ++n) {
    for (const std::uint32_t other : graph.neighbors[n]) is_edge[n][other] = 1;
  }
  std::vector<std::vector<char>> is_held(count, std::vector<char>(count, 0));
  for (const std::uint32_t a : by_bytes) {
    std::vector<std::uint32_t> around(graph.neighbors[a].begin(), graph.neighbors[a].end());
    std::ranges::stable_sort(around, std::ranges::greater{},
                             [&](std::uint32_t n) { return graph.nodes[n].bytes; });
    if (around.empty()) {
      graph.cliques.push(a);
      graph.cliques.close();
    }
    for (const std::uint32_t b : around) {
      if (is_held[a][b] != 0) continue;
      std::vector<std::uint32_t> clique = {a, b};
      for (const std::uint32_t c : around) {
        if (std::ranges::all_of(clique, [&](std::uint32_t n) { return is_edge[n][c] != 0; })) {
          clique.push_back(c);
        }
      }
      for (const std::uint32_t x : clique) {
        graph.cliques.push(x);
        for (const std::uint32_t y : clique) is_held[x][y] = 1;
      }
      graph.cliques.close();
    }
  }
}

void add_cliques_of(SearchGraph& graph) {
  std::vector<std::vector<std::uint32_t>> of(graph.nodes.size());
  for (std::uint32_t c = 0; c < graph.cliques.size(); ++c) {
    for (const std::uint32_t n : graph.cliques[c]) of[n].push_back(c);
  }
  for (const std::vector<std::uint32_t>& list : of) {
    for (const std::uint32_t c : list) graph.cliques_of.push(c);
    graph.cliques_of.close();
  }
}

}  // namespace

std::optional<SearchGraph> search_graph(const Problem& problem) {
  if (!are_whole(problem)) return std::nullopt;
  SearchGraph graph;
  graph.is_interval = is_interval_problem(problem);
  std::vector<std::uint32_t> node_of(problem.buffers.size());
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.bytes == 0) continue;
    node_of[b] = static_cast<std::uint32_t>(graph.nodes.size());
    graph.buffers.push_back(b);
    graph.nodes.push_back({buffer.bytes, buffer.alignment, buffer.offset.value_or(-1), 0});
  }
  std::vector<std::vector<std::uint32_t>> neighbors(graph.nodes.size());
  const auto add_edges = [&](const Problem& listed) {
    for (const Clash& clash : listed.clashes) {
      const std::uint32_t a = node_of[clash.first];
      const std::uint32_t b = node_of[clash.second];
      if (!neighbors[a].empty() && neighbors[a].back() == b) continue;  // Said twice.
      neighbors[a].push_back(b);
      neighbors[b].push_back(a);
    }
  };
  problem.live_ranges_decide ? add_edges(with_clashes(problem)) : add_edges(problem);
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    graph.nodes[n].width = static_cast<std::int64_t>(neighbors[n].size());
    for (const std::uint32_t other : neighbors[n]) graph.neighbors.push(other);
    graph.neighbors.close();
  }
  graph.is_interval ? add_interval_cliques(problem, graph) : add_greedy_cliques(graph);
  add_cliques_of(graph);
  return graph;
}

}  // namespace memverify
