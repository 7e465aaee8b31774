#include "verify/certificate_unsafe.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "verify/certificate_facts.h"
#include "verify/certificate_run.h"
#include "verify/certificate_touches.h"

namespace memverify::cert {
namespace {

bool is_extra(const Model& model, Node node) { return model[node].role != Role::kCommand; }

/// Takes the steps of a run. Gates are no commands: each opens as soon as it may.
class Execution {
 public:
  explicit Execution(Model& model) : model_(model), progress_(model) {}

  std::string go(const Rows& run) {
    for (std::size_t k = 0; k < run.size(); ++k) {
      const auto row = run.row(k);
      const bool fits =
          row.size() == 2 && row[0] >= 0 && row[0] < model_.size() && (row[1] == 0 || row[1] == 1);
      if (!fits) return "step " + std::to_string(k) + " is not [node, 0 or 1]";
      const auto node = static_cast<Node>(row[0]);
      if (!(row[1] == 0 ? start(node) : complete(node))) {
        return "step " + std::to_string(k) + ": " + describe(model_, node) + " cannot " +
               (row[1] == 0 ? "start" : "complete") + " then";
      }
    }
    return "";
  }

  bool is_open(Node node) const { return progress_.started(node) && !progress_.done(node); }

 private:
  bool start(Node node) {
    if (is_extra(model_, node) || progress_.started(node)) return false;
    for (Node other : model_.needs(node)) open(other);
    if (!progress_.blocker(node).none()) return false;
    progress_.start(node);
    // Its completion is a node of its own.
    if (is_recorded(node + 1)) progress_.complete(node);
    return true;
  }

  bool complete(Node node) {
    if (model_[node].role == Role::kGate || progress_.done(node)) return false;
    const bool may = is_recorded(node) ? progress_.blocker(node).none() : progress_.started(node);
    if (may) progress_.complete(node);
    return may;
  }

  bool is_recorded(Node node) const {
    return node < model_.size() && model_[node].role == Role::kRecorded;
  }

  /// Gates wait for gates of their thread before them.
  void open(Node gate) {
    std::vector<Node> gates;
    while (gate != kNoNode && model_[gate].role == Role::kGate && !progress_.done(gate)) {
      gates.push_back(gate);
      const auto needs = model_.needs(gate);
      const auto next =
          std::ranges::find_if(needs, [&](Node n) { return model_[n].role == Role::kGate; });
      gate = next == needs.end() ? kNoNode : *next;
    }
    for (; !gates.empty(); gates.pop_back()) {
      if (progress_.blocker(gates.back()).none()) progress_.complete(gates.back());
    }
  }

  Model& model_;
  Progress progress_;
};

std::string check_race(Model& model, const Fault& fault) {
  if (!fault.blocked.ends.empty()) return "a race blocks nothing";
  const auto is_op = [&](std::int64_t node) {
    return node >= 0 && node < model.size() && !is_extra(model, static_cast<Node>(node)) &&
           model.op(static_cast<Node>(node)).kind == OpKind::kOp;
  };
  if (fault.nodes.size() != 2 || !is_op(fault.nodes[0]) || !is_op(fault.nodes[1]) ||
      fault.nodes[0] >= fault.nodes[1]) {
    return "nodes are not two ops in program order";
  }
  const auto first = static_cast<Node>(fault.nodes[0]);
  const auto second = static_cast<Node>(fault.nodes[1]);
  const auto clash = Touches(model).clash(first, second);
  if (!clash) return "the two share no byte that one of them changes";
  static constexpr std::string_view kRules[] = {"MV101", "MV102", "MV103"};
  if (fault.rule != kRules[clash->way]) return "they clash by another rule";
  if (fault.pool != index(clash->pool) || fault.byte != clash->byte) {
    return "they share another byte first";
  }
  Execution execution(model);
  if (std::string problem = execution.go(fault.run); !problem.empty()) return problem;
  if (execution.is_open(first) && execution.is_open(second)) return "";
  return "after the run the two are not both open";
}

/// What may keep a node from starting, itself aside: nodes any of which does.
bool waits_for(Model& model, Node node, Node other) {
  const NodeInfo& info = model[node];
  if (model.is_queue(info.line) && info.at > 0 &&
      model.line(QueueId{info.line})[info.at - 1] == other) {
    return true;
  }
  if (std::ranges::find(model.needs(node), other) != model.needs(node).end()) return true;
  return std::ranges::any_of(model.members(node), [&](const Members& members) {
    const auto nodes = model.nodes_of(members);
    return std::binary_search(nodes.begin(), nodes.end(), other);
  });
}

/// Signals of a count by node, and what the others may reach at most.
struct Reach {
  std::vector<std::pair<Node, std::int64_t>> inside;
  std::int64_t outside = 0;
};

Reach reach(Model& model, const Count& count, const std::set<Node>& set) {
  const bool timeline = model.is_timeline(count);
  Reach result;
  for (const Group& group : model.groups(count)) {
    for (std::size_t k = 0; k < Model::limit(count, group); ++k) {
      // Of a timeline a signal reaches all or nothing.
      const std::int64_t value =
          timeline ? (group.values[k] >= count.need ? count.need : 0) : group.values[k];
      if (value == 0) continue;
      if (set.contains(group.nodes[k])) {
        result.inside.emplace_back(group.nodes[k], value);
      } else {
        result.outside += value;
      }
    }
  }
  return result;
}

std::string check_deadlock(Model& model, const Fault& fault) {
  if (!fault.nodes.empty() || !fault.run.ends.empty() || fault.pool != 0 || fault.byte != 0) {
    return "a deadlock has blocked nodes only";
  }
  std::map<Node, std::int64_t> set;
  for (std::size_t k = 0; k < fault.blocked.size(); ++k) {
    const auto row = fault.blocked.row(k);
    const bool fits = row.size() == 2 && row[0] >= 0 && row[0] < model.size() &&
                      (set.empty() || row[0] > std::int64_t{set.rbegin()->first});
    if (!fits) return "blocked entry " + std::to_string(k) + " is not [node, reason], ascending";
    set.emplace(static_cast<Node>(row[0]), row[1]);
  }
  if (set.empty()) return "nothing is blocked";
  std::set<Node> nodes;
  for (const auto& [node, reason] : set) nodes.insert(node);
  std::set<Node> used;
  for (const auto& [node, reason] : set) {
    if (reason >= 0) {
      const bool holds = reason < model.size() && nodes.contains(static_cast<Node>(reason)) &&
                         waits_for(model, node, static_cast<Node>(reason));
      if (!holds) return describe(model, node) + " does not wait for the one that is named";
      used.insert(static_cast<Node>(reason));
      continue;
    }
    const auto counts = model.counts(node);
    const auto number = static_cast<std::uint64_t>(-1 - reason);
    if (number >= counts.size()) return describe(model, node) + " does not wait for that count";
    const Count& count = counts[number];
    const Reach signals = reach(model, count, nodes);
    if (signals.outside >= count.need) return describe(model, node) + " may reach its count";
    for (const auto& [signal, value] : signals.inside) {
      if (signals.outside + value >= count.need) used.insert(signal);
    }
  }
  const auto idle = std::ranges::find_if(nodes, [&](Node node) { return !used.contains(node); });
  if (idle == nodes.end() || nodes.size() == 1) return "";
  return describe(model, *idle) + " blocks none of the others";
}

}  // namespace

std::string check_fault(Model& model, const Fault& fault) {
  return fault.rule == "MV111" ? check_deadlock(model, fault) : check_race(model, fault);
}

Rows blocked_set(Model& model, Node from) {
  Rows ignored;
  Progress progress(model);
  for (Node node : find_run(model, ignored).order) progress.complete(node);
  // The last reasons close a circle, or come to a count that the rest cannot reach.
  std::map<Node, std::int64_t> set;
  std::vector<Node> path;
  for (Node node = from; !progress.done(node);) {
    const auto again = std::ranges::find(path, node);
    if (again != path.end()) {
      for (auto at = again; at != path.end(); ++at) {
        set.emplace(*at, at + 1 == path.end() ? *again : *(at + 1));
      }
      break;
    }
    path.push_back(node);
    const Progress::Blocker blocker = progress.blocker(node);
    if (blocker.none()) break;
    if (blocker.node != kNoNode) {
      node = blocker.node;
      continue;
    }
    // The signals that have not happened; where there are some, follow one of them.
    const Count& count = model.counts(node)[blocker.count];
    Node next = kNoNode;
    for (const Group& group : model.groups(count)) {
      for (std::size_t k = 0; k < Model::limit(count, group); ++k) {
        if (!progress.done(group.nodes[k]) && group.values[k] != 0) next = group.nodes[k];
      }
    }
    if (next == kNoNode) {
      set.emplace(node, -1 - std::int64_t{blocker.count});
      break;
    }
    return {};
  }
  Rows rows;
  for (const auto& [node, reason] : set) rows.push_back({node, reason});
  return rows;
}

}  // namespace memverify::cert
