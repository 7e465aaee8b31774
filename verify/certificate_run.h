// verify/certificate_run.h -- a run that completes everything: there is no deadlock, for nothing
// that happens disables anything; and an order of nodes to look at the bytes in.
//
// The run is program order, but for nodes that cannot start there yet: each is *postponed* until
// right after the node that lets it. So there is one way to write it down.
// Cost: linear in nodes and what they wait for.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "verify/certificate.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

struct Run {
  std::vector<Node> order;
  std::string problem;  ///< "" or why it is no run.
};

/// What has started and completed, and what that allows.
class Progress {
 public:
  explicit Progress(Model& model);

  struct Signalled {
    SemaphoreId semaphore;
    std::int64_t value;
  };
  /// What keeps a node from starting: a node, or count number `count`, of a semaphore or of ops of
  /// a queue; or nothing.
  struct Blocker {
    Node node = kNoNode;
    SemaphoreId semaphore = kNone<SemaphoreId>;
    QueueId queue = kNone<QueueId>;
    std::uint32_t count = 0;
    bool none() const {
      return node == kNoNode && semaphore == kNone<SemaphoreId> && queue == kNone<QueueId>;
    }
  };

  bool started(Node node) const { return started_[node] != 0; }
  bool done(Node node) const { return done_[node] != 0; }
  Blocker blocker(Node node);
  /// The semaphores that a completion signals.
  std::span<const std::pair<Node, Signalled>> signals(Node node) const;
  void start(Node node) { started_[node] = 1; }
  void complete(Node node);

 private:
  std::int64_t ops_done(const Count& count);

  Model& model_;
  std::vector<std::uint8_t> started_, done_;
  std::vector<std::array<std::uint32_t, 2>> commands_done_;  ///< By queue: commands, ops in a row.
  std::vector<std::int64_t> reached_;                        ///< By semaphore.
  std::vector<std::pair<Node, Signalled>> signals_;          ///< By node.
};

/// The run with these nodes postponed; every entry must be necessary.
Run make_run(Model& model, const Rows& postponed);

/// The run in which everything happens as early as program order allows. Without a problem if all
/// completes; `postponed` receives the entries.
Run find_run(Model& model, Rows& postponed);

}  // namespace memverify::cert
