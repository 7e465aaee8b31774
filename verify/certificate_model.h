// verify/certificate_model.h -- the checker's own reading of what must happen before what.
//
// Problem: a certificate speaks of instants; the checker must know by itself which instants a plan
//   has and what each start waits for, sharing no code with the engine that made the certificate.
// Idea: nodes. Each command instance is a node; before an op of a queue with `depth` there may be a
//   *gate* (the thread that blocks), and a record on an issue or none queue is followed by a
//   *recorded* node, its completion. Every node then starts and completes without waiting between.
//   A *line* is a sequence of nodes that start in order (the commands of a serial, host or issue
//   queue): what is done before one is done before the next. What else a node waits for are `needs`
//   (completions), `members` (the first commands or ops of a queue) and `counts` ("at least so much
//   of these").
// Cost: linear in instances and their items.
// Tested by tests/unit/verify/certificate_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"

namespace memverify::cert {

using Node = std::uint32_t;
inline constexpr Node kNoNode = 0xFFFFFFFFU;

enum class Role : std::uint8_t { kCommand, kGate, kRecorded };

/// The first `count` commands of an issue or none queue have completed; or its ops.
struct Members {
  QueueId queue = kNone<QueueId>;
  std::uint32_t count = 0;
  bool ops_only = false;
};

/// Signals of `semaphore` (or completions of the first `ops` ops of `queue`) reach `need`.
struct Count {
  SemaphoreId semaphore = kNone<SemaphoreId>;
  QueueId queue = kNone<QueueId>;
  std::int64_t need = 0;
  std::uint32_t ops = 0;
};

struct NodeInfo {
  OpId op = kNone<OpId>;
  std::uint32_t iteration = 0;
  Role role = Role::kCommand;
  bool passed = false;     ///< Skipped, its place kept: no accesses.
  std::uint32_t line = 0;  ///< A queue, or the number of queues plus the node: a line of its own.
  std::uint32_t at = 0;    ///< Place in the line.
  Range needs, members, counts;
};

/// Signals whose knowledge grows along the list, or a single one.
struct Group {
  std::vector<Node> nodes;
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> sums;  ///< [k]: of the first k; for a timeline their maximum.
  bool by_start = false;           ///< Ops of an issue queue: by what is done before they start.
};

/// The values of the conditions in one case, by condition and iteration.
struct Booleans {
  std::uint32_t iterations = 1;
  std::vector<std::uint8_t> values;  ///< condition * iterations + iteration.
  bool operator()(ConditionId condition, std::uint32_t iteration) const {
    return values[std::size_t{index(condition)} * iterations + iteration] != 0;
  }
};

class Model {
 public:
  Model(const Plan& plan, const Layout& layout, const Booleans& conditions);

  const Plan& plan() const { return plan_; }
  const Layout& layout() const { return layout_; }
  std::uint32_t iterations() const { return conditions_.iterations; }
  Node size() const { return static_cast<Node>(nodes_.size()); }
  const NodeInfo& operator[](Node node) const { return nodes_[node]; }
  const Op& op(Node node) const { return plan_.ops[nodes_[node].op]; }
  /// The node of a command instance, kNoNode if dropped; for a record its start.
  Node find(OpId op, std::int64_t iteration) const;

  std::span<const Node> needs(Node n) const { return slice(needs_, nodes_[n].needs); }
  std::span<const Members> members(Node n) const { return slice(members_, nodes_[n].members); }
  std::span<const Count> counts(Node n) const { return slice(counts_, nodes_[n].counts); }
  /// The nodes whose completion `members` asks for, ascending.
  std::span<const Node> nodes_of(const Members& members) const;
  /// For ops of a queue: all of them, of which the first `count.ops` count (see limit()).
  std::span<const Group> groups(const Count& count);
  std::span<const Group> signals(SemaphoreId id) const { return semaphore_groups_[index(id)]; }
  const std::vector<Node>& ops(QueueId queue) const { return ops_[index(queue)]; }
  /// How many nodes of a group count.
  static std::size_t limit(const Count& count, const Group& group) {
    return count.queue == kNone<QueueId> ? group.nodes.size()
                                         : std::min<std::size_t>(count.ops, group.nodes.size());
  }
  bool is_timeline(const Count& count) const {
    return count.semaphore != kNone<SemaphoreId> && plan_.semaphores[count.semaphore].timeline;
  }

  std::uint32_t lines() const { return static_cast<std::uint32_t>(plan_.queues.size()) + size(); }
  /// The nodes of a line that is a queue. A barrier is on the line of each of its queues.
  const std::vector<Node>& line(QueueId queue) const { return line_[index(queue)]; }
  bool is_queue(std::uint32_t line) const { return line < plan_.queues.size(); }
  bool in_order(std::uint32_t line) const {
    return is_queue(line) && in_order(plan_.queues[QueueId{line}].order);
  }
  static bool in_order(QueueOrder order) {
    return order == QueueOrder::kSerial || order == QueueOrder::kHost;
  }
  struct Place {
    std::uint32_t line, at;
    bool operator==(const Place&) const = default;
  };
  /// Where a completion is found: on an in-order queue that says that the earlier ones are done
  /// too.
  Place chain(Node node) const {
    const NodeInfo& n = nodes_[node];
    if (in_order(n.line)) return {n.line, n.at};
    return {static_cast<std::uint32_t>(plan_.queues.size()) + node, 0};
  }
  /// The other lines that a barrier is on.
  std::span<const Place> places(Node node) const;
  /// "" or why the checker does not take the plan.
  const std::string& refused() const { return refused_; }

 private:
  friend class ModelMaker;
  template <typename T>
  static std::span<const T> slice(const std::vector<T>& all, Range range) {
    return std::span<const T>(all).subspan(range.begin, range.size());
  }

  const Plan& plan_;
  const Layout& layout_;
  const Booleans& conditions_;
  std::vector<NodeInfo> nodes_;
  std::vector<Node> by_op_;  ///< iteration * ops + op.
  std::vector<Node> needs_;
  std::vector<Members> members_;
  std::vector<Count> counts_;
  std::vector<std::vector<Node>> line_, commands_, ops_;  ///< By queue; the last two completions.
  std::vector<std::vector<Group>> semaphore_groups_;
  std::vector<std::vector<Group>> queue_groups_;
  std::vector<Place> barrier_places_;
  std::vector<Range> places_;  ///< By barrier in the order of `barriers_`.
  std::vector<Node> barriers_;
  std::string refused_;
};

}  // namespace memverify::cert
