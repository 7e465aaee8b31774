#include "verify/certificate_trace.h"

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "verify/certificate_search.h"

namespace memverify::cert {
namespace {

class Tracer {
 public:
  Tracer(Model& model, Knowledge& truth, std::span<const Node> run)
      : model_(model), truth_(truth), run_(run), rank_(model.size()) {
    for (std::size_t k = 0; k < run.size(); ++k) rank_[run[k]] = static_cast<std::uint32_t>(k);
  }

  /// False if some order has no reason, or the reasons do not come to rest.
  bool trace(std::span<const std::pair<Node, Node>> orders) {
    const std::vector<std::pair<Node, Node>> needed = not_implied(orders);
    for (int round = 0; round < kMostRounds; ++round) {
      needed_of_.assign(run_.size(), kNothing);
      orders_of_.assign(run_.size(), {});
      needed_.clear();
      reached_ = static_cast<std::uint32_t>(run_.size());
      orders_.clear();
      signals_.clear();
      for (const auto& [node, before] : needed) need(node, before);
      for (const auto& [node, before] : std::set(late_)) need(node, before);
      const std::size_t late = late_.size();
      if (!trace_back()) return false;
      if (late_.size() == late) return true;
    }
    return false;
  }

  Rows rows() {
    Rows rows;
    rows.numbers.reserve(3 * orders_.size());
    rows.ends.reserve(orders_.size());
    Node previous = 0;
    for (Node node = 0; node < model_.size(); ++node) {
      const Range of_node = orders_of_[rank_[node]];
      const auto orders = std::span(orders_).subspan(of_node.begin, of_node.size());
      std::ranges::sort(orders, {}, &Traced::before);
      for (const Traced& order : orders) {
        add_order(rows, previous, node, order.before, order.via, order.count,
                  Plan::slice(signals_, order.signals));
        previous = node;
      }
    }
    return rows;
  }

 private:
  static constexpr int kMostRounds = 50;
  struct Traced {
    Node before, via;
    std::uint32_t count;
    Range signals;  ///< In `signals_`.
  };
  struct Needed {
    std::uint32_t line, at;  ///< The chain of `before`.
    Node before;
    auto operator<=>(const Needed&) const = default;
  };

  /// Without those that follow from the one before of the same line and chain: of an earlier node
  /// on the line, and of a later completion on the chain.
  std::vector<std::pair<Node, Node>> not_implied(std::span<const std::pair<Node, Node>> orders) {
    std::vector<std::pair<Node, Node>> result;
    struct Places {
      std::uint32_t on_line, on_chain;
    };
    std::unordered_map<std::uint64_t, Places> last;  // By line and chain.
    for (const auto& [node, before] : orders) {
      const NodeInfo& info = model_[node];
      const Model::Place chain = model_.chain(before);
      if (info.line == chain.line) continue;
      const Places places{info.at, chain.at};
      const auto [at, is_new] =
          last.try_emplace(std::uint64_t{info.line} << 32 | chain.line, places);
      Places& known = at->second;
      if (!is_new && known.on_line <= info.at && chain.at <= known.on_chain) continue;
      known = places;
      result.emplace_back(node, before);
    }
    return result;
  }

  bool trace_back() {
    while (reached_ > 0) {
      std::uint32_t at = needed_of_[--reached_];
      if (at == kNothing) continue;
      const Node node = run_[reached_];
      auto& needed = of_node_;
      for (needed.clear(); at != kNothing; at = needed_[at].next) {
        const Node before = needed_[at].before;
        const Model::Place chain = model_.chain(before);
        needed.push_back({chain.line, chain.at, before});
      }
      std::ranges::sort(needed);
      const auto begin = static_cast<std::uint32_t>(orders_.size());
      orders_of_[reached_] = {begin, begin};
      for (std::size_t k = 0; k < needed.size(); ++k) {
        // Of a queue the last completion speaks for the others.
        if (k + 1 < needed.size() && needed[k].line == needed[k + 1].line) continue;
        if (!explain(node, needed[k].before)) return false;
        orders_of_[reached_].end = static_cast<std::uint32_t>(orders_.size());
      }
    }
    return true;
  }

  bool explain(Node node, Node before) {
    const auto reason = first_reason(model_, node, before, truth_);
    if (!reason) return false;
    if (reason->via != kNoNode) {
      need_completion(reason->via, before);
    } else {
      const Count& count = model_.counts(node)[reason->count];
      const bool by_start = count.queue != kNone<QueueId> &&
                            model_.plan().queues[count.queue].order == QueueOrder::kIssue;
      for (Node signal : reason->signals) {
        if (by_start) {
          need(signal, before);
        } else {
          need_completion(signal, before);
        }
      }
    }
    const auto begin = static_cast<std::uint32_t>(signals_.size());
    signals_.insert(signals_.end(), reason->signals.begin(), reason->signals.end());
    orders_.push_back(
        {before, reason->via, reason->count, {begin, static_cast<std::uint32_t>(signals_.size())}});
    return true;
  }

  void need_completion(Node node, Node before) {
    if (node != before) need(node, before, true);
  }

  /// Enters the order where on the line of `node` it starts to hold.
  void need(Node node, Node before, bool or_same = false) {
    const Model::Place chain = model_.chain(before);
    const NodeInfo& info = model_[node];
    if (info.line == chain.line) {
      assert(chain.at < info.at || (or_same && chain.at == info.at));
      return;
    }
    const Node entry = model_.is_queue(info.line) ? first_on_line(info, before) : node;
    if (rank_[entry] < reached_) {
      needed_.push_back({before, needed_of_[rank_[entry]]});
      needed_of_[rank_[entry]] = static_cast<std::uint32_t>(needed_.size() - 1);
    } else if (!has_order(rank_[entry], before)) {
      late_.emplace(entry, before);
    }
  }

  bool has_order(std::uint32_t rank, Node before) const {
    const Range of_node = orders_of_[rank];
    const auto orders = std::span(orders_).subspan(of_node.begin, of_node.size());
    return std::ranges::find(orders, before, &Traced::before) != orders.end();
  }

  /// Looked for from the node back: it is mostly near.
  Node first_on_line(const NodeInfo& info, Node before) {
    const std::vector<Node>& line = model_.line(QueueId{info.line});
    const auto node = line.begin() + info.at;
    return *search_from(line.begin(), node, node,
                        [&](Node other) { return !truth_.at_start(other, before); });
  }

  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};
  struct Linked {
    Node before;
    std::uint32_t next;  ///< Of the same node, in `needed_`.
  };

  Model& model_;
  Knowledge& truth_;
  std::span<const Node> run_;
  std::vector<std::uint32_t> rank_;       ///< By node: its place in the run.
  std::vector<std::uint32_t> needed_of_;  ///< By rank, in `needed_`: what that node needs done.
  std::vector<Linked> needed_;
  std::vector<Needed> of_node_;
  std::uint32_t reached_ = 0;             ///< Nodes from here on in the run are explained.
  std::set<std::pair<Node, Node>> late_;  ///< Needed of nodes that had been explained.
  std::vector<Traced> orders_;
  std::vector<Node> signals_;
  std::vector<Range> orders_of_;  ///< By rank, in `orders_`.
};

}  // namespace

std::optional<Rows> trace_orders(Model& model, Knowledge& truth, std::span<const Node> run,
                                 std::span<const std::pair<Node, Node>> orders) {
  Tracer tracer(model, truth, run);
  if (!tracer.trace(orders)) return std::nullopt;
  return tracer.rows();
}

}  // namespace memverify::cert
