#include "planner/state_network.h"

#include <algorithm>

#include "planner/min_cut.h"

namespace memverify {

std::optional<StateNetwork> StateNetwork::make(const Program& program) {
  if (!program.contended.empty() || !program.thresholds.empty()) return std::nullopt;
  StateNetwork network(program);
  for (Cmd cmd = 0; cmd < program.instances.size(); ++cmd) {
    const Instance& instance = program.instances[cmd];
    network.need(completion(cmd), start(cmd));
    network.add_queue_order(cmd);
    if (instance.thread_before != kNoCmd) {
      network.need(start(cmd), completion(instance.thread_before));
    }
    for (const Cmd other : program.needs_of(instance)) {
      network.need(start(cmd), completion(other));
    }
    network.add_prefixes(cmd);
  }
  return network;
}

StateNetwork::StateNetwork(const Program& program)
    : program_(program),
      nodes_(static_cast<std::uint32_t>(2 * program.instances.size())),
      prefix_nodes_(2 * program.queue_commands.size()) {}

void StateNetwork::add_queue_order(Cmd cmd) {
  const Instance& instance = program_.instances[cmd];
  if (instance.queue == kNone<QueueId>) return;
  const QueueOrder order = program_.plan->queues[instance.queue].order;
  if (!completes_in_order(order) && instance.fence_before != kNoCmd) {
    need(start(cmd), completion(instance.fence_before));
  }
  if (instance.queue_index == 0 || order == QueueOrder::kNone) return;
  const Cmd before = program_.queue_commands[index(instance.queue)][instance.queue_index - 1];
  need(start(cmd), completes_in_order(order) ? completion(before) : start(before));
}

void StateNetwork::add_prefixes(Cmd cmd) {
  for (const Prefix& prefix : program_.prefixes_of(program_.instances[cmd])) {
    if (prefix.count == 0) continue;
    need(prefix.gates_completion ? completion(cmd) : start(cmd), prefix_node(prefix));
  }
}

/// A node for each beginning of a queue's list, which needs the one before and one completion.
std::uint32_t StateNetwork::prefix_node(const Prefix& prefix) {
  const std::size_t queue = index(prefix.queue);
  const auto& members = program_.members_of(prefix);
  auto& nodes = prefix_nodes_[2 * queue + (prefix.ops_only ? 1 : 0)];
  while (nodes.size() < prefix.count) {
    const std::uint32_t node = nodes_++;
    if (!nodes.empty()) need(node, nodes.back());
    need(node, completion(members[nodes.size()]));
    nodes.push_back(node);
  }
  return nodes[prefix.count - 1];
}

std::vector<std::uint8_t> StateNetwork::best_state(std::span<const std::int64_t> profit) const {
  FlowNetwork network;
  std::int64_t most = 1;
  for (std::uint32_t node = 0; node < nodes_; ++node) network.add_node();
  for (std::uint32_t node = 0; node < profit.size(); ++node) {
    if (profit[node] > 0) network.add_arc(FlowNetwork::kSource, node + 2, profit[node]);
    if (profit[node] < 0) network.add_arc(node + 2, FlowNetwork::kSink, -profit[node]);
    most += std::max<std::int64_t>(profit[node], 0);
  }
  for (const auto& [instant, other] : needs_) network.add_arc(instant + 2, other + 2, most);
  std::vector<std::uint8_t> side = network.source_side();
  side.erase(side.begin(), side.begin() + 2);
  return side;
}

}  // namespace memverify
