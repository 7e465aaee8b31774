#include "verify/certificate_model.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace memverify::cert {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

bool counts_for_queue(OpKind kind) { return kind == OpKind::kOp || kind == OpKind::kUnknown; }

}  // namespace

class ModelMaker {
 public:
  explicit ModelMaker(Model& model)
      : m_(model), plan_(model.plan_), valuation_(model.layout_.valuation()) {}

  void make() {
    const std::size_t queues = plan_.queues.size();
    m_.line_.resize(queues);
    m_.commands_.resize(queues);
    m_.ops_.resize(queues);
    m_.semaphore_groups_.resize(plan_.semaphores.size());
    group_of_.resize(plan_.semaphores.size());
    fence_.assign(queues, kNoNode);
    blocker_.assign(plan_.threads.size(), kNoNode);
    source_.assign(plan_.events.size(), kNoNode);
    list();
    for (Node node = 0; node < m_.size(); ++node) bind(node);
  }

 private:
  void refuse(const std::string& why) {
    if (m_.refused_.empty()) m_.refused_ = why;
  }

  bool collects(const Op& op) const {
    return op.kind == OpKind::kRecord && !Model::in_order(plan_.queues[op.queue].order);
  }

  void list() {
    std::vector<std::int64_t> submitted(plan_.queues.size(), 0);
    m_.by_op_.assign(std::size_t{m_.iterations()} * plan_.ops.size(), kNoNode);
    m_.nodes_.reserve(m_.by_op_.size());
    for (std::uint32_t iteration = 0; iteration < m_.iterations(); ++iteration) {
      for (OpId id : ids(plan_.ops)) {
        const Op& op = plan_.ops[id];
        NodeInfo node{.op = id, .iteration = iteration};
        if (!runs(op, iteration, node.passed)) continue;
        if (op.queue != kNone<QueueId> && counts_for_queue(op.kind)) {
          std::int64_t& before = submitted[index(op.queue)];
          const auto depth = plan_.queues[op.queue].depth;
          if (depth && before >= *depth) push(node, Role::kGate);
          ++before;
        }
        m_.by_op_[std::size_t{iteration} * plan_.ops.size() + index(id)] = m_.size();
        push(node, Role::kCommand);
        if (collects(op)) push(node, Role::kRecorded);
      }
    }
  }

  void push(NodeInfo node, Role role) {
    node.role = role;
    node.line = static_cast<std::uint32_t>(plan_.queues.size()) + m_.size();
    m_.nodes_.push_back(node);
  }

  bool runs(const Op& op, std::uint32_t iteration, bool& passed) {
    if (op.kind == OpKind::kView) return false;
    if (op.runs == Runs::kFirst && iteration > 0) return false;
    if (op.runs == Runs::kLast && iteration + 1 < m_.iterations()) return false;
    for (const WhenTerm& term : plan_.when_of(op)) {
      if (m_.conditions_(term.condition, iteration) == term.value) continue;
      passed = true;
      if (!op.skipped_pass) return false;
    }
    return true;
  }

  std::int64_t value(Expr expr, std::uint32_t iteration) {
    valuation_.iteration = iteration;
    const auto result = plan_.formulas.eval(expr, valuation_);
    if (!result) refuse("a semaphore value does not fit in 64 bits");
    return result.value_or(0);
  }

  void bind(Node id) {
    NodeInfo& node = m_.nodes_[id];
    const Op& op = plan_.ops[node.op];
    node.needs.begin = static_cast<std::uint32_t>(m_.needs_.size());
    node.members.begin = static_cast<std::uint32_t>(m_.members_.size());
    node.counts.begin = static_cast<std::uint32_t>(m_.counts_.size());
    Node& blocker = blocker_[index(op.thread)];
    if (node.role == Role::kRecorded) {
      need(id - 1);
      const auto& commands = m_.commands_[index(op.queue)];  // The record itself is the last.
      first_commands(op.queue, static_cast<std::uint32_t>(commands.size() - 1));
    } else {
      if (blocker != kNoNode) need(blocker);
      if (node.role == Role::kGate) {
        all_ops_but(op.queue, *plan_.queues[op.queue].depth - 1);
      } else {
        bind_items(node, op);
      }
    }
    node.needs.end = static_cast<std::uint32_t>(m_.needs_.size());
    node.members.end = static_cast<std::uint32_t>(m_.members_.size());
    node.counts.end = static_cast<std::uint32_t>(m_.counts_.size());
    if (node.role == Role::kGate) blocker = id;
    if (node.role == Role::kCommand) submit(id, op, blocker);
  }

  void bind_items(const NodeInfo& node, const Op& op) {
    if (op.queue != kNone<QueueId>) need_fence(op.queue);
    if (op.kind == OpKind::kWait) need(source_[index(op.event)]);
    for (const Wait& wait : plan_.waits_of(op)) bind_wait(node, wait);
    for (const After& after : plan_.after_of(op)) {
      const Node target = m_.find(after.op, std::int64_t{node.iteration} - after.distance);
      if (target != kNoNode) need(completion(target));
    }
    for (QueueId queue : plan_.queues_of(op)) all_commands(queue);
  }

  /// A wait or barrier completes before all that follow on its queue start ([S-17], [S-18]).
  void need_fence(QueueId queue) {
    const Node fence = fence_[index(queue)];
    const auto& line = m_.line_[index(queue)];
    switch (plan_.queues[queue].order) {
      case QueueOrder::kNone:
        return need(fence);
      case QueueOrder::kIssue:  // Whatever follows starts after the one right behind the fence.
        if (!line.empty() && line.back() == fence) need(fence);
        return;
      case QueueOrder::kSerial:
      case QueueOrder::kHost:
        return;
    }
  }

  void bind_wait(const NodeInfo& node, const Wait& wait) {
    switch (wait.kind) {
      case WaitKind::kEvent:
        need(source_[index(wait.event)]);
        break;
      case WaitKind::kSemaphore:
        bind_semaphore(node, wait);
        break;
      case WaitKind::kPending: {
        const auto ops = static_cast<std::int64_t>(m_.ops_[index(wait.queue)].size());
        first_ops(wait.queue, ops - m_.layout_.value(wait.value));
        break;
      }
      case WaitKind::kOutstanding:
        all_ops_but(wait.queue, m_.layout_.value(wait.value));
        break;
      case WaitKind::kQueue:
        all_commands(wait.queue);
        break;
      case WaitKind::kAll:
        for (QueueId queue : ids(plan_.queues)) all_commands(queue);
        for (Node blocker : blocker_) need(blocker);
        break;
    }
  }

  void bind_semaphore(const NodeInfo& node, const Wait& wait) {
    if (wait.consume) return refuse("a wait consumes from a semaphore");
    const Semaphore& semaphore = plan_.semaphores[wait.semaphore];
    const std::int64_t initial = m_.layout_.value(semaphore.initial);
    std::int64_t needed = value(wait.value, node.iteration);
    if (needed <= initial) return;
    if (!semaphore.timeline && __builtin_sub_overflow(needed, initial, &needed)) {
      return refuse("a semaphore value does not fit in 64 bits");
    }
    m_.counts_.push_back({.semaphore = wait.semaphore, .need = needed});
  }

  void need(Node node) {
    if (node != kNoNode) m_.needs_.push_back(node);
  }

  Node completion(Node node) const { return collects(m_.op(node)) ? node + 1 : node; }

  void all_commands(QueueId queue) {
    const auto& commands = m_.commands_[index(queue)];
    if (commands.empty()) return;
    if (Model::in_order(plan_.queues[queue].order)) return need(commands.back());
    first_commands(queue, static_cast<std::uint32_t>(commands.size()));
  }

  void first_commands(QueueId queue, std::uint32_t count) {
    if (count > 0) m_.members_.push_back({queue, count, false});
  }

  void first_ops(QueueId queue, std::int64_t count) {
    if (count <= 0) return;
    const auto k = static_cast<std::uint32_t>(count);
    if (Model::in_order(plan_.queues[queue].order)) return need(m_.ops_[index(queue)][k - 1]);
    m_.members_.push_back({queue, k, true});
  }

  void all_ops_but(QueueId queue, std::int64_t missing) {
    const auto ops = static_cast<std::uint32_t>(m_.ops_[index(queue)].size());
    if (missing >= ops) return;
    if (missing == 0 || Model::in_order(plan_.queues[queue].order)) {
      return first_ops(queue, ops - missing);
    }
    m_.counts_.push_back({.queue = queue, .need = ops - missing, .ops = ops});
  }

  void submit(Node id, const Op& op, Node& blocker) {
    NodeInfo& node = m_.nodes_[id];
    if (op.queue != kNone<QueueId>) {
      if (plan_.queues[op.queue].order != QueueOrder::kNone) {
        node.line = index(op.queue);
        node.at = enter(op.queue, id);
      }
      m_.commands_[index(op.queue)].push_back(completion(id));
      if (counts_for_queue(op.kind)) m_.ops_[index(op.queue)].push_back(id);
      if (op.kind == OpKind::kWait) fence_[index(op.queue)] = id;
      if (plan_.queues[op.queue].order == QueueOrder::kHost) blocker = id;
    }
    if (op.kind == OpKind::kBarrier) {
      const auto first = static_cast<std::uint32_t>(m_.barrier_places_.size());
      for (QueueId queue : plan_.queues_of(op)) {
        if (plan_.queues[queue].order != QueueOrder::kNone) {
          m_.barrier_places_.push_back({index(queue), enter(queue, id)});
        }
        m_.commands_[index(queue)].push_back(id);
        fence_[index(queue)] = id;
        if (plan_.queues[queue].order == QueueOrder::kHost) blocker = id;
      }
      m_.barriers_.push_back(id);
      m_.places_.push_back({first, static_cast<std::uint32_t>(m_.barrier_places_.size())});
    }
    if (op.kind == OpKind::kHostWait) blocker = id;
    if (op.kind == OpKind::kRecord) source_[index(op.event)] = completion(id);
    for (const Signal& signal : plan_.signals_of(op)) fire(id, node, signal);
  }

  std::uint32_t enter(QueueId queue, Node id) {
    m_.line_[index(queue)].push_back(id);
    return static_cast<std::uint32_t>(m_.line_[index(queue)].size() - 1);
  }

  void fire(Node id, const NodeInfo& node, const Signal& signal) {
    const Node done = completion(id);
    if (signal.event != kNone<EventId>) source_[index(signal.event)] = done;
    if (signal.semaphore == kNone<SemaphoreId>) return;
    const std::int64_t amount = value(signal.value, node.iteration);
    const bool timeline = plan_.semaphores[signal.semaphore].timeline;
    if (amount < 0 && !timeline) return refuse("a signal takes from a semaphore");
    auto& groups = m_.semaphore_groups_[index(signal.semaphore)];
    auto& known = group_of_[index(signal.semaphore)];
    known.resize(plan_.queues.size(), kNoNode);
    std::uint32_t group = static_cast<std::uint32_t>(groups.size());
    if (m_.in_order(node.line)) {
      if (known[node.line] == kNoNode) known[node.line] = group;
      group = known[node.line];
    }
    if (group == groups.size()) groups.push_back({.sums = {timeline ? kLeast : 0}});
    groups[group].nodes.push_back(done);
    groups[group].values.push_back(amount);
    std::int64_t sum = std::max(groups[group].sums.back(), amount);
    if (!timeline && __builtin_add_overflow(groups[group].sums.back(), amount, &sum)) {
      refuse("the signals of a semaphore pass 64 bits");
    }
    groups[group].sums.push_back(sum);
  }

  Model& m_;
  const Plan& plan_;
  Valuation valuation_;
  std::vector<Node> fence_;                           ///< By queue.
  std::vector<Node> blocker_;                         ///< By thread.
  std::vector<Node> source_;                          ///< By event.
  std::vector<std::vector<std::uint32_t>> group_of_;  ///< By semaphore and queue.
};

Model::Model(const Plan& plan, const Layout& layout, const Booleans& conditions)
    : plan_(plan), layout_(layout), conditions_(conditions) {
  ModelMaker(*this).make();
}

Node Model::find(OpId op, std::int64_t iteration) const {
  if (iteration < 0 || iteration >= iterations()) return kNoNode;
  return by_op_[static_cast<std::size_t>(iteration) * plan_.ops.size() + index(op)];
}

std::span<const Node> Model::nodes_of(const Members& members) const {
  const auto& all = (members.ops_only ? ops_ : commands_)[index(members.queue)];
  return std::span(all).first(members.count);
}

std::span<const Model::Place> Model::places(Node node) const {
  const auto at = std::ranges::lower_bound(barriers_, node);
  if (at == barriers_.end() || *at != node) return {};
  return slice(barrier_places_, places_[static_cast<std::size_t>(at - barriers_.begin())]);
}

std::span<const Group> Model::groups(const Count& count) {
  if (count.semaphore != kNone<SemaphoreId>) return semaphore_groups_[index(count.semaphore)];
  queue_groups_.resize(plan_.queues.size());
  auto& groups = queue_groups_[index(count.queue)];
  const auto& ops = ops_[index(count.queue)];
  const bool is_issue = plan_.queues[count.queue].order == QueueOrder::kIssue;
  if (groups.empty() && is_issue) {
    Group all{.nodes = ops, .by_start = true};
    all.values.assign(ops.size(), 1);
    for (std::size_t k = 0; k <= ops.size(); ++k) all.sums.push_back(static_cast<std::int64_t>(k));
    groups.push_back(std::move(all));
  } else if (groups.empty()) {
    for (Node op : ops) groups.push_back({.nodes = {op}, .values = {1}, .sums = {0, 1}});
  }
  return is_issue ? std::span(groups) : std::span(groups).first(count.ops);
}

}  // namespace memverify::cert
