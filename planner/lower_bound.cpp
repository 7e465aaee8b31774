#include "planner/lower_bound.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <map>
#include <set>

#include "planner/clashes.h"

namespace memverify {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS,
    boost::property<
        boost::vertex_color_t, boost::default_color_type,
        boost::property<boost::vertex_distance_t, long,
                        boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor>>>,
    boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

constexpr std::size_t kMostArcs = 4'000'000;

class Network {
 public:
  Network(const LiveValues& live, const Order& order, std::span<const std::int64_t> weights)
      : live_(live), order_(order), weights_(weights) {
    for (std::uint32_t v = 0; v < live.values.size(); ++v) {
      if (weights[v] > 0) elements_.push_back(v);
    }
  }

  Antichain solve(const SharingPairs& sharing) {
    find_places();
    if (elements_.size() * (places_.size() + 1) + several_ * elements_.size() > kMostArcs)
      return {};
    number_nodes();
    for (const std::uint32_t v : elements_) {
      total_ += weights_[v];
      add_arc(source_, out_[v], weights_[v]);
      add_arc(in_[v], sink_, weights_[v]);
    }
    const std::int64_t unlimited = total_ + 1;
    for (auto& [chain, places] : places_) add_chain(places, unlimited);
    for (const std::uint32_t a : elements_) {
      for (const auto& [chain, places] : places_) add_after(a, places, unlimited);
    }
    for (const std::uint32_t b : elements_) {
      if (live_.firsts(live_.values[b]).size() < 2) continue;
      for (const std::uint32_t a : elements_) {
        if (a != b && ends_before(live_, order_, live_.values[a], live_.values[b])) {
          add_arc(out_[a], in_[b], unlimited);
        }
      }
    }
    for (const auto& [a, b] : sharing) {
      if (weights_[a] > 0 && weights_[b] > 0) add_arc(out_[a], in_[b], unlimited);
    }
    boost::boykov_kolmogorov_max_flow(graph_, source_, sink_);
    return cut();
  }

 private:
  /// Where on a chain values begin.
  struct Place {
    Cmd cmd = kNoCmd;
    std::size_t node = 0;
    std::vector<std::uint32_t> begin_here;
  };

  void find_places() {
    std::map<std::uint32_t, std::map<std::uint32_t, Place>> found;
    for (const std::uint32_t v : elements_) {
      const std::span<const Cmd> firsts = live_.firsts(live_.values[v]);
      if (firsts.size() > 1) ++several_;
      if (firsts.size() != 1) continue;
      Place& place = found[order_.chain(firsts[0])][order_.position(firsts[0])];
      place.cmd = firsts[0];
      place.begin_here.push_back(v);
    }
    for (auto& [chain, places] : found) {
      for (auto& [position, place] : places) places_[chain].push_back(std::move(place));
    }
  }

  void number_nodes() {
    std::size_t next = 2;
    out_.resize(weights_.size());
    in_.resize(weights_.size());
    for (const std::uint32_t v : elements_) {
      out_[v] = next++;
      in_[v] = next++;
    }
    for (auto& [chain, places] : places_) {
      for (Place& place : places) place.node = next++;
    }
    graph_ = FlowGraph(next);
  }

  void add_arc(std::size_t from, std::size_t to, std::int64_t capacity) {
    const auto forth = boost::add_edge(from, to, graph_).first;
    const auto back = boost::add_edge(to, from, graph_).first;
    boost::put(boost::edge_capacity, graph_, forth, capacity);
    boost::put(boost::edge_capacity, graph_, back, std::int64_t{0});
    boost::put(boost::edge_reverse, graph_, forth, back);
    boost::put(boost::edge_reverse, graph_, back, forth);
  }

  void add_chain(const std::vector<Place>& places, std::int64_t unlimited) {
    for (std::size_t k = 0; k < places.size(); ++k) {
      for (const std::uint32_t v : places[k].begin_here) {
        add_arc(places[k].node, in_[v], unlimited);
      }
      if (k + 1 < places.size()) add_arc(places[k].node, places[k + 1].node, unlimited);
    }
  }

  /// From `a` to the first place of the chain that comes after all of it.
  void add_after(std::uint32_t a, const std::vector<Place>& places, std::int64_t unlimited) {
    const LiveValue& value = live_.values[a];
    if (value.to_end) return;
    const auto first = std::partition_point(places.begin(), places.end(), [&](const Place& place) {
      return !std::ranges::all_of(live_.lasts(value),
                                  [&](Cmd last) { return order_.before(last, place.cmd); });
    });
    if (first != places.end()) add_arc(out_[a], first->node, unlimited);
  }

  /// The elements whose out is reached from the source in what is left, and whose in is not.
  Antichain cut() const {
    std::vector<std::uint8_t> reached(boost::num_vertices(graph_), 0);
    std::vector<std::size_t> stack{source_};
    reached[source_] = 1;
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      const auto [begin, end] = boost::out_edges(at, graph_);
      for (auto edge = begin; edge != end; ++edge) {
        if (boost::get(boost::edge_residual_capacity, graph_, *edge) == 0) continue;
        const std::size_t to = boost::target(*edge, graph_);
        if (reached[to] != 0) continue;
        reached[to] = 1;
        stack.push_back(to);
      }
    }
    Antichain result;
    for (const std::uint32_t v : elements_) {
      if (reached[out_[v]] == 0 || reached[in_[v]] != 0) continue;
      result.members.push_back(v);
      result.bytes += weights_[v];
    }
    return result;
  }

  const LiveValues& live_;
  const Order& order_;
  std::span<const std::int64_t> weights_;
  std::vector<std::uint32_t> elements_;
  std::map<std::uint32_t, std::vector<Place>> places_;  ///< By chain, ascending.
  std::size_t several_ = 0;                             ///< Values that begin in several places.
  std::vector<std::size_t> out_, in_;                   ///< Nodes, by value.
  std::int64_t total_ = 0;
  FlowGraph graph_;
  static constexpr std::size_t source_ = 0, sink_ = 1;
};

}  // namespace

Antichain heaviest_antichain(const LiveValues& live, const Order& order,
                             std::span<const std::int64_t> weights, const SharingPairs& sharing) {
  return Network(live, order, weights).solve(sharing);
}

bool holds(const Antichain& antichain, const LiveValues& live, const Order& order,
           std::span<const std::int64_t> weights, const SharingPairs& sharing) {
  const std::set<std::pair<std::uint32_t, std::uint32_t>> may_share(sharing.begin(), sharing.end());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < antichain.members.size(); ++i) {
    const std::uint32_t a = antichain.members[i];
    bytes += weights[a];
    for (std::size_t j = i + 1; j < antichain.members.size(); ++j) {
      const std::uint32_t b = antichain.members[j];
      if (a == b || may_share.contains({a, b}) || may_share.contains({b, a}) ||
          ends_before(live, order, live.values[a], live.values[b]) ||
          ends_before(live, order, live.values[b], live.values[a])) {
        return false;
      }
    }
  }
  return bytes == antichain.bytes;
}

std::int64_t largest_live_set(const LiveValues& live, const Walk& walk,
                              std::span<const std::int64_t> weights) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // (time, bytes); ends come first.
  for (std::uint32_t v = 0; v < live.values.size(); ++v) {
    const LiveValue& value = live.values[v];
    std::int64_t begin = value.from_start ? 0 : std::int64_t{1} << 40;
    std::int64_t end = 0;
    for (const Cmd cmd : live.firsts(value)) {
      begin = std::min<std::int64_t>(begin, walk.started[cmd]);
    }
    for (const Cmd cmd : live.lasts(value)) {
      end = std::max<std::int64_t>(end, walk.completed[cmd]);
    }
    changes.emplace_back(begin, weights[v]);
    if (!value.to_end) changes.emplace_back(end, -weights[v]);
  }
  std::ranges::sort(changes);
  std::int64_t alive = 0;
  std::int64_t most = 0;
  for (const auto& [time, bytes] : changes) {
    alive += bytes;
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace memverify
