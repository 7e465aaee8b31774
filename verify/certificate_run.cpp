#include "verify/certificate_run.h"

#include <algorithm>
#include <functional>
#include <map>

#include "verify/certificate_facts.h"

namespace memverify::cert {
namespace {

/// Those of a list sorted by node that belong to `node`.
template <typename T>
std::span<const std::pair<Node, T>> of_node(const std::vector<std::pair<Node, T>>& list,
                                            Node node) {
  const auto begin = std::ranges::lower_bound(list, node, {}, &std::pair<Node, T>::first);
  const auto end =
      std::ranges::upper_bound(begin, list.end(), node, {}, &std::pair<Node, T>::first);
  return {begin, end};
}

}  // namespace

Progress::Progress(Model& model)
    : model_(model), started_(model.size(), 0), done_(model.size(), 0) {
  const Plan& plan = model.plan();
  commands_done_.assign(plan.queues.size(), {0, 0});
  for (SemaphoreId id : ids(plan.semaphores)) {
    const Semaphore& semaphore = plan.semaphores[id];
    reached_.push_back(semaphore.timeline ? model.layout().value(semaphore.initial) : 0);
    for (const Group& group : model.signals(id)) {
      for (std::size_t k = 0; k < group.nodes.size(); ++k) {
        signals_.emplace_back(group.nodes[k], Signalled{id, group.values[k]});
      }
    }
  }
  std::ranges::stable_sort(signals_, {}, [](const auto& signal) { return signal.first; });
}

Progress::Blocker Progress::blocker(Node node) {
  const NodeInfo& info = model_[node];
  if (model_.is_queue(info.line) && info.at > 0) {
    const Node before = model_.line(QueueId{info.line})[info.at - 1];
    const bool suffices = model_.in_order(info.line) ? done(before) : started(before);
    if (!suffices) return {.node = before};
  }
  for (Node other : model_.needs(node)) {
    if (!done(other)) return {.node = other};
  }
  for (const Members& members : model_.members(node)) {
    const auto nodes = model_.nodes_of(members);
    auto& k = commands_done_[index(members.queue)][members.ops_only ? 1 : 0];
    if (k >= nodes.size()) continue;
    while (k < nodes.size() && done(nodes[k])) ++k;
    if (k < nodes.size()) return {.node = nodes[k]};
  }
  const auto counts = model_.counts(node);
  for (std::uint32_t k = 0; k < counts.size(); ++k) {
    const Count& count = counts[k];
    if (count.semaphore != kNone<SemaphoreId>) {
      if (reached_[index(count.semaphore)] < count.need) {
        return {.semaphore = count.semaphore, .count = k};
      }
    } else if (ops_done(count) < count.need) {
      return {.queue = count.queue, .count = k};
    }
  }
  return {};
}

std::span<const std::pair<Node, Progress::Signalled>> Progress::signals(Node node) const {
  return of_node(signals_, node);
}

void Progress::complete(Node node) {
  started_[node] = 1;
  done_[node] = 1;
  if (model_.op(node).signals.empty()) return;
  for (const auto& [id, signal] : signals(node)) {
    std::int64_t& reached = reached_[index(signal.semaphore)];
    const bool timeline = model_.plan().semaphores[signal.semaphore].timeline;
    reached = timeline ? std::max(reached, signal.value) : reached + signal.value;
  }
}

std::int64_t Progress::ops_done(const Count& count) {
  const auto ops = std::span(model_.ops(count.queue)).first(count.ops);
  auto& first = commands_done_[index(count.queue)][1];
  while (first < ops.size() && done(ops[first])) ++first;
  std::int64_t result = std::min<std::int64_t>(first, count.ops);
  for (std::size_t k = first; k < ops.size(); ++k) result += done_[ops[k]];
  return result;
}

Run make_run(Model& model, const Rows& postponed) {
  Run run;
  std::vector<std::uint8_t> late(model.size(), 0);
  std::vector<std::pair<Node, Node>> followers;  // (after, node)
  for (std::size_t k = 0; k < postponed.size(); ++k) {
    const auto row = postponed.row(k);
    const bool fits = row.size() == 2 && row[0] >= 0 && row[0] < model.size() && row[1] >= 0 &&
                      row[1] < model.size() && (k == 0 || postponed.row(k - 1)[0] < row[0]);
    if (!fits) return {{}, "postponed entry " + std::to_string(k) + " is not [node, after]"};
    late[static_cast<std::size_t>(row[0])] = 1;
    followers.emplace_back(static_cast<Node>(row[1]), static_cast<Node>(row[0]));
  }
  std::ranges::sort(followers);
  Progress progress(model);
  std::vector<Node> stack;
  for (Node scanned = 0; scanned < model.size(); ++scanned) {
    if (late[scanned] != 0) continue;
    stack.assign(1, scanned);
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      if (!progress.blocker(node).none()) {
        return {{}, describe(model, node) + " cannot start in the run of the certificate"};
      }
      const std::span<const std::pair<Node, Node>> after = of_node(followers, node);
      for (const auto& follower : after) {
        if (follower.second > scanned || progress.blocker(follower.second).none()) {
          return {{}, describe(model, follower.second) + " is postponed without need"};
        }
      }
      progress.complete(node);
      run.order.push_back(node);
      for (auto f = after.rbegin(); f != after.rend(); ++f) {
        if (!progress.blocker(f->second).none()) {
          return {{}, describe(model, f->second) + " cannot start where it is postponed to"};
        }
        stack.push_back(f->second);
      }
    }
  }
  if (run.order.size() != model.size()) run.problem = "the run leaves nodes out";
  return run;
}

Run find_run(Model& model, Rows& postponed) {
  Run run;
  Progress progress(model);
  std::vector<std::vector<Node>> on_node(model.size());
  std::vector<std::vector<Node>> on_semaphore(model.plan().semaphores.size());
  std::vector<std::vector<Node>> on_queue(model.plan().queues.size());
  const auto park = [&](Node node) {
    const auto blocker = progress.blocker(node);
    if (blocker.none()) return false;
    auto& list = blocker.node != kNoNode                   ? on_node[blocker.node]
                 : blocker.semaphore != kNone<SemaphoreId> ? on_semaphore[index(blocker.semaphore)]
                                                           : on_queue[index(blocker.queue)];
    list.push_back(node);
    return true;
  };
  std::map<Node, Node> after;
  std::vector<Node> stack, woken;
  for (Node scanned = 0; scanned < model.size(); ++scanned) {
    if (park(scanned)) continue;
    stack.assign(1, scanned);
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      progress.complete(node);
      run.order.push_back(node);
      woken.clear();
      const auto wake = [&](std::vector<Node>& list) {
        woken.insert(woken.end(), list.begin(), list.end());
        list.clear();
      };
      wake(on_node[node]);
      for (const auto& [id, signal] : progress.signals(node)) {
        wake(on_semaphore[index(signal.semaphore)]);
      }
      const QueueId queue = model.op(node).queue;
      if (queue != kNone<QueueId>) wake(on_queue[index(queue)]);
      std::ranges::sort(woken, std::greater<>());
      for (Node waiting : woken) {
        if (park(waiting)) continue;
        after.emplace(waiting, node);
        stack.push_back(waiting);
      }
    }
  }
  for (const auto& [node, let] : after) postponed.push_back({node, let});
  if (run.order.size() != model.size()) run.problem = "not everything completes";
  return run;
}

}  // namespace memverify::cert
