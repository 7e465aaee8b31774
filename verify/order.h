// verify/order.h -- happens-before between command instances.
//
// Problem: is complete(a) before start(b) in every run?
// Idea: a clock says how far each *chain* must have completed before an instant. A serial queue is
//   a chain; an op of an issue or none queue joins a chain of its queue whose last op is known to
//   complete before it starts, else opens one, so a queue has about as many chains as its width. A
//   clock is a row: a count by queue, of the commands of a serial queue (for other queues: of the
//   ops of a joined prefix), and counts by chain of the other queues, in a sorted list of pieces of
//   eight chains, for those that it has something of. A command whose needs add nothing shares the
//   row of the command before it, so rows exist only at joins; rows share the counts of each eight
//   queues or chains that a join leaves as they were. A conjunction of needs is the componentwise
//   maximum; the last needs are joined first, for what they hold need not be joined again. A
//   threshold is the componentwise weighted order statistic of the clocks of its signals: the
//   adversary serves the wait with those signals that need least of that chain. Signals may come
//   later than their wait in the walk, so with thresholds the clocks are the greatest fixpoint
//   below what the walk itself justifies: passes over the walk until nothing changes.
// Cost: O((instances + needs) + joins * (queues + width)) a pass; memory joins * (queues +
//   width) * 4 bytes, at best an eighth of that; 40 bytes a chain where clocks have few, far apart.
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
  /// Queues or chains whose counts rows share.
  static constexpr std::size_t kChunk = 8;
  /// A chunk with the completed lengths of the chains from `kChunk * place` on; one is not 0.
  struct Piece {
    std::uint32_t place;
    std::uint32_t chunk;
  };
  struct Row {
    std::size_t begin = 0, end = 0;  ///< In `pieces`.
  };

  explicit Clocks(std::size_t queues = 0) : chunks((queues + kChunk - 1) / kChunk) {}

  std::size_t chunks;  ///< In a row.
  std::vector<Row> rows;
  std::vector<std::uint32_t> chunk_of;      ///< By row and place in the row: number of a chunk.
  std::vector<std::uint32_t> counts;        ///< By chunk and queue or chain in it.
  std::vector<Piece> pieces;                ///< Of chains beyond queues; by place within a row.
  std::vector<std::uint32_t> start_row;     ///< By Cmd. A command's own chain is not in its row.
  std::vector<std::uint32_t> complete_row;  ///< By Cmd; as start_row but for records and barriers.

  std::uint32_t at(std::uint32_t row, std::size_t queue) const {
    return chunk(row, queue / kChunk)[queue % kChunk];
  }
  /// The counts of `kChunk` queues at a place of the row.
  const std::uint32_t* chunk(std::uint32_t row, std::size_t place) const {
    return chunk(chunk_of[row * chunks + place]);
  }
  const std::uint32_t* chunk(std::uint32_t number) const { return &counts[number * kChunk]; }
  std::uint32_t add_chunk(const std::uint32_t* first);
  /// Adds a row of its own, with `kChunk * chunks` counts.
  void add_row(const std::uint32_t* first);
  /// Completed length of a chain of an issue or none queue, by the row's list alone.
  std::uint32_t length(std::uint32_t row, std::uint32_t chain) const;
  std::span<const Piece> pieces_of(std::uint32_t row) const {
    return std::span(pieces).subspan(rows[row].begin, rows[row].end - rows[row].begin);
  }
  /// Calls `visit(chain, length)` for each chain of an issue or none queue in the row.
  template <typename Visit>
  void for_each_length(std::uint32_t row, Visit visit) const {
    for (const Piece& piece : pieces_of(row)) {
      for (std::uint32_t k = 0; k < kChunk; ++k) {
        const std::uint32_t length = chunk(piece.chunk)[k];
        if (length != 0) visit(static_cast<std::uint32_t>(piece.place * kChunk + k), length);
      }
    }
  }
};

/// The chains of issue and none queues, numbered from the number of queues on.
class Chains {
 public:
  explicit Chains(std::size_t queues);
  bool is_queue(std::uint32_t chain) const { return chain < queues_; }
  /// With those of serial queues.
  std::size_t count() const { return queues_ + chains_.size(); }
  std::uint32_t open(QueueId queue);
  /// Adds a command; `op_end` is one more than its op index, or kNeverJoined for an alloc or free.
  /// No op index in the chain is higher.
  void append(std::uint32_t chain, std::uint32_t op_end);
  QueueId queue(std::uint32_t chain) const { return chains_[chain - queues_].queue; }
  std::uint32_t length(std::uint32_t chain) const { return lengths_[chain]; }
  /// Those of the chains from `Clocks::kChunk * place` on; kNoLength for queues and what is to
  /// come.
  const std::uint32_t* lengths(std::uint32_t place) const {
    return &lengths_[place * Clocks::kChunk];
  }
  /// One more than the last op index in the chain, which is the highest.
  std::uint32_t op_end(std::uint32_t chain) const { return chains_[chain - queues_].op_end.back(); }
  /// How many of its first commands are among the first `ops` ops of the queue.
  std::uint32_t covered(std::uint32_t chain, std::uint32_t ops) const;
  /// Whether those are `length` at least, which is more than 0.
  bool covers(std::uint32_t chain, std::uint32_t ops, std::uint32_t length) const {
    return ops != 0 && chains_[chain - queues_].op_end[length - 1] <= ops;
  }
  static constexpr std::uint32_t kNeverJoined = 0xFFFFFFFFU;
  static constexpr std::uint32_t kNoLength = 0xFFFFFFFFU;

 private:
  struct Chain {
    QueueId queue;
    std::vector<std::uint32_t> op_end;  ///< Ascending, so that `covered` can search.
  };
  std::size_t queues_;
  std::vector<Chain> chains_;
  std::vector<std::uint32_t> lengths_;  ///< By chain; kNoLength for queues and to a full chunk.
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
    if (!chains_.is_queue(chain)) return before_on_chain(a, b);
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
  bool before_on_chain(Cmd a, Cmd b) const;
  std::uint32_t completed(Cmd cmd, std::uint32_t chain, std::uint32_t row) const;
  const Program* program_;
  Clocks clocks_;
  Chains chains_;
  std::vector<std::uint32_t> chain_, position_;  ///< By Cmd.
  bool known_ = true;
};

}  // namespace memverify
