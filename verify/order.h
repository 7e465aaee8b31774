// verify/order.h -- happens-before between command instances.
//
// Problem: is complete(a) before start(b) in every run?
// Idea: a clock says how far each *chain* must have completed before an instant. A serial queue is
//   a chain; an op of an issue or none queue joins a chain of its queue whose last op is known to
//   complete before it starts, else opens one, so a queue has about as many chains as its width. A
//   clock is a row: a count by queue, of the commands of a serial queue (for other queues: of the
//   ops of a joined prefix), and a short sorted list for chains of the other queues. A command
//   whose needs add nothing shares the row of the command before it, so rows exist only at joins;
//   rows share the counts of each eight queues that a join leaves as they were. A conjunction of
//   needs is the componentwise maximum. A threshold is the componentwise weighted order statistic
//   of the clocks of its signals: the adversary serves the wait with those signals that need least
//   of that chain. Signals may come later than their wait in the walk, so with thresholds the
//   clocks are the greatest fixpoint below what the walk itself justifies: passes over the walk
//   until nothing changes.
// Cost: O((instances + needs) + joins * (queues + width)) a pass; memory joins * queues * 4 bytes,
//   at best an eighth of that.
//   Plans without thresholds take one pass. A query is O(1), for issue and none queues O(log
//   width).
// Example: q0: a, record e; q1: wait e, b. The wait joins q0's prefix, so before(a, b).
// Reference: vector clocks (Fidge 1988, Mattern 1989); docs/architecture.md says why this is exact.
// Tested by tests/unit/verify/order_test.cpp, tests/agreement.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {

inline constexpr std::uint32_t kNoChain = 0xFFFFFFFFU;

/// Rows of clocks, and which row each command starts and completes with.
struct Clocks {
  /// Queues whose counts rows share.
  static constexpr std::size_t kChunk = 8;
  struct Row {
    std::size_t sparse_begin = 0, sparse_end = 0;
  };
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  ///< (chain, completed length).

  explicit Clocks(std::size_t queues = 0) : chunks((queues + kChunk - 1) / kChunk) {}

  std::size_t chunks;  ///< In a row.
  std::vector<Row> rows;
  std::vector<std::uint32_t> chunk_of;      ///< By row and place in the row: number of a chunk.
  std::vector<std::uint32_t> counts;        ///< By chunk and queue in it.
  std::vector<Entry> sparse;                ///< Sorted by chain within a row.
  std::vector<std::uint32_t> start_row;     ///< By Cmd. A command's own chain is not in its row.
  std::vector<std::uint32_t> complete_row;  ///< By Cmd; as start_row but for records and barriers.

  std::uint32_t at(std::uint32_t row, std::size_t queue) const {
    return chunk(row, queue / kChunk)[queue % kChunk];
  }
  /// The counts of `kChunk` queues at a place of the row.
  const std::uint32_t* chunk(std::uint32_t row, std::size_t place) const {
    return &counts[chunk_of[row * chunks + place] * kChunk];
  }
  std::uint32_t add_chunk(const std::uint32_t* first);
  /// Adds a row of its own, with `kChunk * chunks` counts.
  void add_row(const std::uint32_t* first);
  /// Completed length of a chain of an issue or none queue, by the row's list alone.
  std::uint32_t length(std::uint32_t row, std::uint32_t chain) const;
};

/// The chains of issue and none queues, numbered from the number of queues on.
class Chains {
 public:
  explicit Chains(std::size_t queues) : queues_(queues) {}
  bool is_queue(std::uint32_t chain) const { return chain < queues_; }
  /// With those of serial queues.
  std::size_t count() const { return queues_ + chains_.size(); }
  std::uint32_t open(QueueId queue);
  /// Adds a command; `op_end` is one more than its op index, or kNeverJoined for an alloc or free.
  /// No op index in the chain is higher.
  void append(std::uint32_t chain, std::uint32_t op_end);
  QueueId queue(std::uint32_t chain) const { return chains_[chain - queues_].queue; }
  std::uint32_t length(std::uint32_t chain) const {
    return static_cast<std::uint32_t>(chains_[chain - queues_].op_end.size());
  }
  /// One more than the last op index in the chain, which is the highest.
  std::uint32_t op_end(std::uint32_t chain) const { return chains_[chain - queues_].op_end.back(); }
  /// How many of its first commands are among the first `ops` ops of the queue.
  std::uint32_t covered(std::uint32_t chain, std::uint32_t ops) const;
  static constexpr std::uint32_t kNeverJoined = 0xFFFFFFFFU;

 private:
  struct Chain {
    QueueId queue;
    std::vector<std::uint32_t> op_end;  ///< Ascending, so that `covered` can search.
  };
  std::size_t queues_;
  std::vector<Chain> chains_;
};

class Order {
 public:
  /// `walk` is the greedy run of `program`; `program` must outlive the result.
  Order(const Program& program, const Walk& walk);
  /// The chains of `chains`, and clocks that were found elsewhere, of serial queues alone.
  Order(const Order& chains, Clocks clocks);

  /// complete(a) happens-before start(b), for started instances of queues (not gates, barriers,
  /// host waits). False for a == b.
  bool before(Cmd a, Cmd b) const {
    const std::uint32_t chain = chain_[a];
    if (!chains_.is_queue(chain)) return position_[a] < completed(b, chain);
    if (chain == chain_[b] && position_[a] < position_[b]) return true;
    return position_[a] < clocks_.at(clocks_.start_row[b], chain);
  }

  /// The same of complete(b): a record or barrier knows more then than when it started.
  bool before_completion(Cmd a, Cmd b) const {
    return position_[a] < completed(b, chain_[a], clocks_.complete_row[b]);
  }

  /// The chain of an instance and its place there: within a chain each completes before the next
  /// starts. Chains of serial queues have the number of the queue; kNoChain for what has none.
  std::uint32_t chain(Cmd cmd) const { return chain_[cmd]; }
  std::uint32_t position(Cmd cmd) const { return position_[cmd]; }
  /// How many commands of `chain` must have completed before `cmd` starts.
  std::uint32_t completed(Cmd cmd, std::uint32_t chain) const;
  /// By chain, the greatest of that over `cmds`. Cost O(cmds * queues + entries + chains), far less
  /// than to ask for each chain.
  std::vector<std::uint32_t> most_completed(std::span<const Cmd> cmds) const;

  std::size_t rows() const { return clocks_.rows.size(); }
  /// False: the waits for counts took too much work, and `before` says nothing.
  bool is_known() const { return known_; }

 private:
  friend class ClockBuilder;
  std::uint32_t completed(Cmd cmd, std::uint32_t chain, std::uint32_t row) const;
  const Program* program_;
  Clocks clocks_;
  Chains chains_;
  std::vector<std::uint32_t> chain_, position_;  ///< By Cmd.
  bool known_ = true;
};

}  // namespace memverify
