#include "verify/certificate_facts.h"

#include <algorithm>
#include <numeric>

#include "verify/certificate_search.h"

namespace memverify::cert {
namespace {

/// Lacking so much keeps a count from being reached.
using Weight = std::uint64_t;

struct Share {
  const Group* group;
  Weight without, all;
  Node first;  ///< The first that needs it; kNoNode: none.
};

std::optional<Reason> reason_of_count(Model& model, const Count& count, Node before,
                                      Knowledge& knowledge) {
  const bool timeline = model.is_timeline(count);
  const Weight need = timeline ? 1 : static_cast<Weight>(count.need);
  const auto weigh = [&](const Group& group, std::size_t k) -> Weight {
    if (timeline) return group.sums[k] >= count.need ? 1 : 0;
    return std::min(need, static_cast<Weight>(group.sums[k]));
  };
  std::vector<Share> shares;
  Weight sum = 0;
  for (const Group& group : model.groups(count)) {
    const std::size_t limit = Model::limit(count, group);
    const std::size_t k = without(model, count, group, before, knowledge);
    Share share{&group, weigh(group, k), weigh(group, limit),
                k == limit ? kNoNode : group.nodes[k]};
    if (group.by_start && share.without > 0) {
      // On an issue queue the completion itself may be among those.
      const auto end = group.nodes.begin() + static_cast<std::ptrdiff_t>(k);
      if (std::binary_search(group.nodes.begin(), end, before)) --share.without;
    }
    sum = std::min(need, sum + share.without);
    if (sum >= need) return std::nullopt;
    shares.push_back(share);
  }
  // Groups that the count can do without, from the last on, are no part of the reason.
  for (std::size_t k = shares.size(); k > 0; --k) {
    Share& share = shares[k - 1];
    if (share.first == kNoNode) continue;
    const Weight without_it = sum - share.without + share.all;
    if (without_it >= need) continue;
    sum = without_it;
    share.first = kNoNode;
  }
  Reason reason;
  for (const Share& share : shares) {
    if (share.first != kNoNode) reason.signals.push_back(share.first);
  }
  return reason;
}

/// Stable; keys are below `keys`.
template <typename T, typename Key>
void counting_sort(std::vector<T>& items, std::size_t keys, Key key) {
  std::vector<std::uint32_t> next(keys + 1, 0);
  for (const T& item : items) ++next[key(item) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<T> sorted(items.size());
  for (const T& item : items) sorted[next[key(item)]++] = item;
  items.swap(sorted);
}

}  // namespace

bool Knowledge::at_completion(Node node, Node before, const Model& model) {
  if (node == before) return true;
  const Model::Place chain = model.chain(before);
  if (model[node].line == chain.line) return chain.at <= model[node].at;
  return at_start(node, before);
}

std::size_t without(Model& model, const Count& count, const Group& group, Node before,
                    Knowledge& knowledge) {
  const auto knows = [&](Node node) {
    return group.by_start ? knowledge.at_start(node, before)
                          : knowledge.at_completion(node, before, model);
  };
  const auto nodes = std::span(group.nodes).first(Model::limit(count, group));
  return static_cast<std::size_t>(
      std::partition_point(nodes.begin(), nodes.end(), [&](Node n) { return !knows(n); }) -
      nodes.begin());
}

std::optional<Reason> first_reason(Model& model, Node node, Node before, Knowledge& knowledge) {
  for (Node other : model.needs(node)) {
    if (knowledge.at_completion(other, before, model)) return Reason{.via = other};
  }
  for (const Members& members : model.members(node)) {
    const auto nodes = model.nodes_of(members);
    if (std::binary_search(nodes.begin(), nodes.end(), before)) return Reason{.via = before};
    if (model.plan().queues[members.queue].order == QueueOrder::kIssue) {
      // What is done before the last starts includes that of the earlier ones.
      if (knowledge.at_completion(nodes.back(), before, model)) return Reason{.via = nodes.back()};
      continue;
    }
    for (std::size_t k = nodes.size(); k > 0; --k) {
      const Node other = nodes[k - 1];
      if (knowledge.at_completion(other, before, model)) return Reason{.via = other};
      // These waited for everything before them.
      const bool is_fence =
          model[other].role == Role::kRecorded || model.op(other).kind == OpKind::kBarrier;
      if (is_fence && !members.ops_only) break;
    }
  }
  const auto counts = model.counts(node);
  for (std::uint32_t k = 0; k < counts.size(); ++k) {
    if (auto reason = reason_of_count(model, counts[k], before, knowledge)) {
      reason->count = k;
      return reason;
    }
  }
  return std::nullopt;
}

void add_order(Rows& rows, Node previous, Node node, Node before, Node via, std::uint32_t count,
               std::span<const Node> signals) {
  const auto distance = [&](Node other) { return std::int64_t{node} - std::int64_t{other}; };
  rows.numbers.push_back(std::int64_t{node} - std::int64_t{previous});
  rows.numbers.push_back(distance(before));
  // 0 cannot be a distance: nothing waits for itself.
  rows.numbers.push_back(via == kNoNode ? 0 : distance(via));
  if (via == kNoNode) {
    rows.numbers.push_back(count);
    for (Node signal : signals) rows.numbers.push_back(distance(signal));
  }
  rows.ends.push_back(rows.numbers.size());
}

std::string Orders::take(const Rows& rows) {
  orders_.reserve(rows.size());
  Node previous = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    read(rows.row(k), previous);
    if (!problem_.empty()) return "order " + std::to_string(k) + " " + problem_;
    previous = orders_.back().node;
  }
  sort_lines();
  return "";
}

void Orders::read(std::span<const std::int64_t> row, Node previous) {
  if (row.size() < 3 || (row[2] != 0 && row.size() != 3) || (row[2] == 0 && row.size() < 4)) {
    problem_ = "is not [node, before, via] or [node, before, 0, count, signals...]";
    return;
  }
  const auto node_of = [&](std::int64_t origin, std::int64_t distance) {
    std::int64_t node = -1;
    if (__builtin_sub_overflow(origin, distance, &node) || node < 0 || node >= model_.size()) {
      problem_ = "names a node that does not exist";
      return kNoNode;
    }
    return static_cast<Node>(node);
  };
  Order order{.via = kNoNode};
  order.node = row[0] < 0 ? kNoNode : node_of(previous, -row[0]);
  if (order.node == kNoNode) {
    problem_ = "names a node that does not exist";
    return;
  }
  order.before = node_of(order.node, row[1]);
  if (row[2] != 0) {
    order.via = node_of(order.node, row[2]);
  } else {
    if (row[3] < 0 || row[3] >= static_cast<std::int64_t>(model_.counts(order.node).size())) {
      problem_ = "names a count that its node does not wait for";
      return;
    }
    order.count = static_cast<std::uint32_t>(row[3]);
    order.signals.begin = static_cast<std::uint32_t>(signals_.size());
    for (std::int64_t signal : row.subspan(4)) signals_.push_back(node_of(order.node, signal));
    order.signals.end = static_cast<std::uint32_t>(signals_.size());
  }
  if (!problem_.empty()) return;
  if (!orders_.empty() && orders_.back().node == order.node &&
      orders_.back().before >= order.before) {
    problem_ = "is out of place: orders ascend by node and what is before";
    return;
  }
  orders_.push_back(order);
}

/// Of a line and a chain no later entry says less than an earlier one.
void Orders::sort_lines() {
  struct Placed {
    std::uint32_t line, chain;
    Entry entry;
  };
  std::vector<Placed> placed;
  placed.reserve(orders_.size());
  for (std::uint32_t k = 0; k < orders_.size(); ++k) {
    const Node node = orders_[k].node;
    const Model::Place chain = model_.chain(orders_[k].before);
    const auto place = [&](Model::Place at) {
      placed.push_back({at.line, chain.line, {chain.at, at.at, k}});
    };
    place({model_[node].line, model_[node].at});
    for (const Model::Place& other : model_.places(node)) place(other);
  }
  counting_sort(placed, model_.lines(), [](const Placed& p) { return p.chain; });
  counting_sort(placed, model_.lines(), [](const Placed& p) { return p.line; });
  entries_.reserve(placed.size());
  const Placed* last = nullptr;
  for (const Placed& p : placed) {
    first_.resize(p.line + std::size_t{1}, static_cast<std::uint32_t>(chains_.size()));
    const bool is_new = last == nullptr || last->line != p.line || last->chain != p.chain;
    last = &p;
    if (is_new) {
      chains_.push_back({p.chain, static_cast<std::uint32_t>(entries_.size())});
    } else if (entries_.back().place >= p.entry.place) {
      continue;
    }
    entries_.push_back(p.entry);
  }
  first_.resize(model_.lines() + std::size_t{1}, static_cast<std::uint32_t>(chains_.size()));
  for (const Chain& chain : chains_) asked_.push_back(chain.begin);
  reasoned_ = asked_;
  chains_.push_back({0, static_cast<std::uint32_t>(entries_.size())});
}

const Orders::Entry* Orders::find(Node node, Node before, Fingers& fingers) const {
  const Model::Place wanted = model_.chain(before);
  const std::uint32_t line = model_[node].line;
  const auto end = chains_.begin() + first_[line + 1];
  const auto chain = std::lower_bound(chains_.begin() + first_[line], end, wanted.line,
                                      [](const Chain& c, std::uint32_t l) { return c.line < l; });
  if (chain == end || chain->line != wanted.line) return nullptr;
  const Entry* const last = entries_.data() + (chain + 1)->begin;
  std::uint32_t& finger = fingers[static_cast<std::size_t>(chain - chains_.begin())];
  const Entry* const entry =
      search_from(entries_.data() + chain->begin, last, entries_.data() + finger,
                  [&](const Entry& e) { return e.place < wanted.at; });
  finger = static_cast<std::uint32_t>(entry - entries_.data());
  return entry == last || entry->at > model_[node].at ? nullptr : entry;
}

bool Orders::at_start(Node node, Node before) {
  const Model::Place chain = model_.chain(before);
  if (model_[node].line == chain.line) return chain.at < model_[node].at;
  return find(node, before, reasoned_) != nullptr;
}

bool Orders::use(Node node, Node before) {
  const Model::Place chain = model_.chain(before);
  if (model_[node].line == chain.line) return chain.at < model_[node].at;
  const Entry* entry = find(node, before, asked_);
  if (entry == nullptr) return false;
  if (entry->place == chain.at) orders_[entry->order].used = true;
  return true;
}

/// That `before` is done at `node` is a reason of another order.
void Orders::note_reason(Node node, Node before) {
  if (node == before || model_[node].line == model_.chain(before).line) return;
  const Entry* entry = find(node, before, reasoned_);
  if (entry != nullptr && entry->place == model_.chain(before).at) {
    orders_[entry->order].gives_reason = true;
  }
}

std::string Orders::check() {
  for (const Order& order : orders_) {
    const auto reason = first_reason(model_, order.node, order.before, *this);
    if (!reason) return name(order) + ": nothing that it waits for makes sure of that";
    if (!has_reason(order, *reason)) {
      return name(order) + ": the certificate names another reason than the first that holds";
    }
    if (reason->via != kNoNode) note_reason(reason->via, order.before);
    for (Node signal : reason->signals) note_reason(signal, order.before);
  }
  return "";
}

std::string Orders::idle() const {
  for (const Order& order : orders_) {
    if (!order.used && !order.gives_reason) return name(order) + ": nothing needs this order";
  }
  return "";
}

bool Orders::has_reason(const Order& order, const Reason& reason) const {
  return order.via == reason.via && order.count == reason.count &&
         std::ranges::equal(Plan::slice(signals_, order.signals), reason.signals);
}

std::string Orders::name(const Order& order) const {
  return "order of " + describe(model_, order.before) + " before " + describe(model_, order.node);
}

std::string describe(const Model& model, Node node) {
  if (node >= model.size()) return "the end";
  std::string text = "`" + std::string(model.op(node).name) + "`";
  if (model[node].role == Role::kGate) text = "the depth of the queue of " + text;
  if (model[node].role == Role::kRecorded) text = "the completion of " + text;
  if (model.iterations() > 1) {
    text += " (iteration " + std::to_string(model[node].iteration) + ")";
  }
  return text;
}

}  // namespace memverify::cert
