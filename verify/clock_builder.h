// verify/clock_builder.h -- computes the clocks of an Order. Private to verify/order.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "verify/order.h"

namespace memverify {

class ClockBuilder {
 public:
  ClockBuilder(Order& order, const Walk& walk);
  void build();

 private:
  /// Which signals a threshold may count on in this pass.
  enum class Use : std::uint8_t {
    kNone,  ///< Thresholds give nothing: clocks are a lower bound, good for choosing chains.
    kPast,  ///< Signals before the wait in the walk: an upper bound.
    kAll,   ///< All that are ever reached.
  };
  /// A completion: its row and its own place in its chain.
  struct Stamp {
    std::uint32_t row = 0;
    std::uint32_t chain = kNoChain;
    std::uint32_t length = 0;
    const Clocks* clocks = nullptr;
  };
  struct Weighted {
    Stamp stamp;
    std::int64_t weight = 1;
  };
  /// An item needs the first `length` commands of `chain`.
  struct Voice {
    std::uint32_t chain;
    std::uint32_t length;
    std::int64_t weight;
  };
  /// Signals of one semaphore from one queue, in the order of the queue if that completes in order.
  struct SignalGroup {
    bool in_order = false;
    std::vector<SignalInstance> signals;
  };
  /// The join of a prefix of a queue, as far as it was needed.
  struct JoinedPrefix {
    std::uint32_t count = 0;
    std::uint32_t row = 0;
  };

  void begin_pass();
  void place(Cmd cmd, Use use);
  void place_start(Cmd cmd, const Instance& instance, bool in_order, Use use);
  bool starts_in_order(const Instance& instance) const;
  void join_counts(const Instance& instance, Use use);
  void place_completion(Cmd cmd, const Instance& instance);
  void choose_chain(Cmd cmd, const Instance& instance);

  // The clock being made: row `base_` until the first join that adds something, then `dense_` and
  // `pieces_`, with chunks of `now_`; on top of it the first `own_count_` commands of `own_queue_`.
  void begin(std::uint32_t base, std::size_t own_queue, std::uint32_t own_count);
  bool holds(const Stamp& stamp) const;
  std::uint32_t dense_at(std::size_t queue) const;
  void thaw();
  void join(const Stamp& stamp);
  void merge(const Stamp& stamp);  ///< Of what the clock does not hold.
  void merge_pieces(const Clocks& from, std::span<const Clocks::Piece> others);
  std::uint32_t joined_chunk(std::uint32_t chunk, const std::uint32_t* others,
                             std::uint32_t number);
  std::uint32_t own_chunk(std::uint32_t chunk, const std::uint32_t* counts);
  void drop_covered();
  void join_command(Cmd cmd);
  void join_prefix(const Prefix& prefix);
  void join_threshold(const Threshold& threshold, Use use);
  void join_semaphore(const Threshold& threshold, Use use);
  void join_outstanding(const Threshold& threshold, Use use);
  void join_order_statistic(std::span<const Weighted> items, std::int64_t need);
  void raise(std::uint32_t chain, std::uint32_t length);
  std::uint32_t finish();
  std::uint32_t shared_chunk(std::size_t place);

  bool counts(Cmd signal, Use use) const;
  Stamp stamp_of(Cmd cmd) const;
  std::uint32_t value(const Stamp& stamp, std::size_t queue) const;
  std::uint32_t chain_value(const Stamp& stamp, std::uint32_t chain) const;
  std::vector<std::uint32_t> chains_in(std::span<const Weighted> items) const;
  std::vector<Voice> voices_of(std::span<const Weighted> items) const;
  void group_signals();
  bool same_clocks() const;

  Order& order_;
  const Program& program_;
  const Plan& plan_;
  const Walk& walk_;
  const std::size_t width_;             ///< Number of queues.
  std::vector<std::size_t> unordered_;  ///< Queues that have chains.

  Clocks now_, old_;
  std::vector<std::uint32_t>
      pass_of_;  ///< By Cmd: the last pass that placed it; if there are more than one.
  std::uint32_t pass_ = 0;
  std::vector<std::vector<JoinedPrefix>> joined_;        ///< By queue: [all commands, ops only].
  std::vector<std::vector<SignalGroup>> signal_groups_;  ///< By semaphore.
  using Idle = std::pair<std::uint32_t, std::uint32_t>;  ///< (op_end, chain).
  std::vector<std::priority_queue<Idle, std::vector<Idle>, std::greater<>>> idle_;  ///< By queue.

  std::uint64_t work_ = 0;  ///< Values that order statistics were taken of.

  std::uint32_t base_ = 0;
  bool frozen_ = true;
  std::size_t own_queue_ = 0;
  std::uint32_t own_count_ = 0;
  std::vector<std::uint32_t> dense_;
  std::uint32_t joined_row_ = 0;  ///< The first that `dense_` joined: it mostly has the most.
  std::vector<Clocks::Piece> pieces_, added_;
  std::uint32_t first_own_ = 0;  ///< Chunks from here on are in no row, and may change.
};

}  // namespace memverify
