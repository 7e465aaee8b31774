#include "planner/first_flow.h"

#include <algorithm>

namespace memverify {
namespace {

constexpr std::uint32_t kNoArc = 0xFFFFFFFFU;

class FirstFlow {
 public:
  FirstFlow(std::span<const FlowArc> arcs, std::uint32_t nodes)
      : arcs_(arcs), main_(nodes, kNoArc), supply_(nodes, 0), demand_(nodes, 0), sent_(nodes, 0) {}

  std::vector<FlowArc> run() {
    const std::vector<std::uint32_t> order = forest();
    if (order.empty()) return {arcs_.begin(), arcs_.end()};
    std::vector<std::int64_t> given = supply_;
    std::vector<std::int64_t> taken = demand_;
    next_.resize(main_.size());
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      next_[*v] = demand_[*v] > 0 ? *v : after(*v);
      send_from(*v);
    }
    for (const std::uint32_t v : order) {
      given[v] -= supply_[v];
      taken[v] -= demand_[v];
      if (main_[v] != kNoArc) sent_[arcs_[main_[v]].to] += sent_[v];
    }
    std::vector<FlowArc> left;
    for (std::uint32_t a = 0; a < arcs_.size(); ++a) {
      FlowArc arc = arcs_[a];
      const bool is_main = !is_end(arc.from) && main_[arc.from] == a;
      if (is_main && sent_[arc.from] > 0) left.push_back({arc.to, arc.from, sent_[arc.from]});
      if (is_end(arc.from) != is_end(arc.to)) {
        std::int64_t& flow = arc.from == FlowNetwork::kSource ? given[arc.to] : taken[arc.from];
        const std::int64_t some = std::min(flow, arc.capacity);
        flow -= some;
        arc.capacity -= some;
      }
      if (arc.capacity > 0) left.push_back(arc);
    }
    return left;
  }

 private:
  static bool is_end(std::uint32_t node) { return node <= FlowNetwork::kSink; }

  std::uint32_t after(std::uint32_t v) const {
    return main_[v] == kNoArc ? FlowNetwork::kSink : arcs_[main_[v]].to;
  }

  /// The nodes, each before the one that its first arc leads to. Empty if there are cycles.
  std::vector<std::uint32_t> forest() {
    std::int64_t all = 0;
    for (const FlowArc& arc : arcs_) {
      if (arc.from != FlowNetwork::kSource || is_end(arc.to)) continue;
      supply_[arc.to] += arc.capacity;
      all += arc.capacity;
    }
    std::vector<std::uint32_t> before(main_.size(), 0);
    for (std::uint32_t a = 0; a < arcs_.size(); ++a) {
      const FlowArc& arc = arcs_[a];
      if (is_end(arc.from)) continue;
      if (arc.to == FlowNetwork::kSink) demand_[arc.from] += arc.capacity;
      if (is_end(arc.to) || main_[arc.from] != kNoArc || arc.capacity < all) continue;
      main_[arc.from] = a;
      ++before[arc.to];
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t v = FlowNetwork::kSink + 1; v < main_.size(); ++v) {
      if (before[v] == 0) order.push_back(v);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t to = after(order[i]);
      if (!is_end(to) && --before[to] == 0) order.push_back(to);
    }
    if (order.size() + 2 < main_.size()) order.clear();
    return order;
  }

  /// The nearest node from `v` on that still has demand, or the sink.
  std::uint32_t open_from(std::uint32_t v) {
    std::uint32_t end = v;
    while (!is_end(end) && next_[end] != end) end = next_[end];
    while (!is_end(v) && v != end) {
      const std::uint32_t next = next_[v];
      next_[v] = end;
      v = next;
    }
    return end;
  }

  void send_from(std::uint32_t v) {
    while (supply_[v] > 0) {
      const std::uint32_t to = open_from(v);
      if (is_end(to)) return;
      const std::int64_t some = std::min(supply_[v], demand_[to]);
      supply_[v] -= some;
      demand_[to] -= some;
      sent_[v] += some;
      sent_[to] -= some;
      if (demand_[to] == 0) next_[to] = after(to);
    }
  }

  std::span<const FlowArc> arcs_;
  std::vector<std::uint32_t> main_;            ///< By node: its first arc to another one.
  std::vector<std::int64_t> supply_, demand_;  ///< By node: what is left of them.
  std::vector<std::int64_t> sent_;             ///< By node: how much more goes out than comes in.
  std::vector<std::uint32_t> next_;            ///< By node: itself while it has demand.
};

}  // namespace

std::vector<FlowArc> after_first_flow(std::span<const FlowArc> arcs, std::uint32_t nodes) {
  return FirstFlow(arcs, nodes).run();
}

}  // namespace memverify
