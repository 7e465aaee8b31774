// verify/program.h -- the command instances of a plan in one case: symbols and conditions fixed,
// iterations unrolled, dropped commands gone, every wait bound to what it waits for.
//
// Problem: the format speaks of ops, iterations, "the most recent record", "all but the n most
//   recent ops"; happens-before needs instances and the completions that each start needs.
// Idea: one pass in program order. A wait that only ever needs particular completions becomes edges
//   (`needs`) or a prefix of a queue (`Prefix`); what is left are thresholds ("at least v of
//   these"). A queue with `depth` gets a *gate* before each op: a blocking command of the
//   submitting thread.
// Cost: linear in the instances and their items, plus one binary search per semaphore wait.
// Tested by tests/unit/verify/program_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"

namespace memverify {

/// Index of a command instance; program order. Gates are instances too.
using Cmd = std::uint32_t;
inline constexpr Cmd kNoCmd = 0xFFFFFFFFU;

/// The values of the conditions in one case, by condition and iteration; beyond the last iteration
/// that it was made for they stay what they are there.
class ConditionCase {
 public:
  ConditionCase(const Plan& plan, std::uint32_t iterations);
  bool value(ConditionId condition, std::uint32_t iteration) const {
    return values_[index_of(condition, iteration)] != 0;
  }
  void set(ConditionId condition, std::uint32_t iteration, bool value) {
    values_[index_of(condition, iteration)] = value ? 1 : 0;
  }

 private:
  std::size_t index_of(ConditionId condition, std::uint32_t iteration) const {
    return std::size_t{index(condition)} * iterations_ + std::min(iteration, iterations_ - 1);
  }
  std::uint32_t iterations_;
  std::vector<std::uint8_t> values_;
};

/// The first `count` members of queue `queue` have completed: of its ops (`op`, `unknown`) when
/// `ops_only`, else of all its commands. Only for queues whose completions are not in order. Gates
/// the start of a command, or of a record that collects its own queue the completion.
struct Prefix {
  QueueId queue = kNone<QueueId>;
  std::uint32_t count = 0;
  bool ops_only = false;
  bool gates_completion = false;
};

/// `need` weight of completions out of a set: the signals of a semaphore, or the first `ops` ops of
/// a queue (`queue` != kNone; then all but `need` of them may be missing).
struct Threshold {
  SemaphoreId semaphore = kNone<SemaphoreId>;
  QueueId queue = kNone<QueueId>;
  std::int64_t need = 0;  ///< Semaphores: value less initial (counting), or the value (timeline).
  std::uint32_t ops = 0;  ///< Queues: how many ops were submitted before.
};

/// A signal of a semaphore by one command instance.
struct SignalInstance {
  Cmd cmd = kNoCmd;
  std::int64_t value = 0;
};

/// The same signal, seen from its command.
struct SignalItem {
  SemaphoreId semaphore = kNone<SemaphoreId>;
  std::int64_t value = 0;
};

/// A wait on a semaphore that several queues take from; items of one command are in order.
struct Take {
  Cmd cmd = kNoCmd;
  std::int64_t value = 0;
  bool consume = false;
};

/// `[begin, end)` of one of the program's item arrays.
struct Items {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// What few commands have: needs that are more than single completions, and signals of semaphores.
struct Counts {
  Items prefixes;    ///< In Program::prefixes.
  Items thresholds;  ///< In Program::thresholds: gate its start.
  Items signals;     ///< In Program::signal_items: fire at its completion.
};

struct Instance {
  OpId op = kNone<OpId>;
  std::uint32_t iteration = 0;
  bool gate = false;               ///< A depth gate of `op`: blocks the thread, touches nothing.
  bool skipped = false;            ///< Its `when` does not hold and it is `"skipped": "pass"`.
  QueueId queue = kNone<QueueId>;  ///< kNone for gates, barriers and host waits.
  std::uint32_t queue_index = 0;   ///< Position among the commands of `queue`.
  std::uint32_t op_index = 0;      ///< Number of ops submitted to `queue` before it.
  Cmd thread_before = kNoCmd;      ///< Last command that blocks its thread.
  Cmd fence_before = kNoCmd;       ///< Last wait or barrier of `queue` (issue and none queues).
  Items needs;                     ///< In Program::needs: their completion precedes its start.
  std::uint32_t counts = 0;        ///< In Program::counts.
};

struct Program {
  const Plan* plan = nullptr;
  const Layout* layout = nullptr;
  std::uint32_t iterations = 1;
  bool reaches_end = true;          ///< False: more iterations follow, which are not looked at.
  std::vector<Instance> instances;  ///< In program order.
  std::vector<Cmd> needs;
  std::vector<Counts> counts = std::vector<Counts>(1);  ///< The first is of those with nothing.
  std::vector<Prefix> prefixes;
  std::vector<Threshold> thresholds;
  std::vector<SignalItem> signal_items;
  /// All commands of each queue, barriers included, in program order.
  std::vector<std::vector<Cmd>> queue_commands;
  /// The ops of queues that have other commands, too.
  std::vector<std::optional<std::vector<Cmd>>> queue_ops;
  /// Signals of each semaphore in program order.
  std::vector<std::vector<SignalInstance>> signals;
  std::vector<std::uint8_t> is_bound;  ///< By OpId: some instance's event wait found its event.
  bool some_unbound = false;           ///< Some instance's did not.
  bool some_dropped = false;           ///< Some command has no instance in some iteration.
  bool some_unheard = false;           ///< No wait names some event that was recorded or signalled.
  bool has_lifetimes = false;          ///< The plan has an alloc or free.
  /// Semaphores that waits of several queues, or in no order, take from, and all waits on them in
  /// program order: no needs of their commands. See verify/one_semaphore.h.
  std::vector<SemaphoreId> contended;
  std::vector<Take> takes;
  bool bad_value = false;  ///< A semaphore value overflowed, or a signal is negative.

  std::span<const Cmd> needs_of(const Instance& i) const { return slice(needs, i.needs); }
  std::span<const Prefix> prefixes_of(const Instance& i) const {
    return slice(prefixes, counts[i.counts].prefixes);
  }
  std::span<const Threshold> thresholds_of(const Instance& i) const {
    return slice(thresholds, counts[i.counts].thresholds);
  }
  std::span<const SignalItem> signals_of(const Instance& i) const {
    return slice(signal_items, counts[i.counts].signals);
  }
  /// The ops of the queue (`op`, `unknown`), in program order.
  const std::vector<Cmd>& ops_of(QueueId queue) const {
    const auto& ops = queue_ops[index(queue)];
    return ops ? *ops : queue_commands[index(queue)];
  }
  /// The commands or ops that the prefix is the first of.
  const std::vector<Cmd>& members_of(const Prefix& prefix) const {
    return prefix.ops_only ? ops_of(prefix.queue) : queue_commands[index(prefix.queue)];
  }
  const Op& op(Cmd cmd) const { return plan->ops[instances[cmd].op]; }
  /// The instance of `op` in `iteration`, kNoCmd if dropped, absent or out of range.
  Cmd find(OpId op, std::int64_t iteration) const;

  std::vector<Cmd> by_op;  ///< By iteration * ops + op. Empty if that is the command itself.

 private:
  template <typename T>
  static std::span<const T> slice(const std::vector<T>& all, Items items) {
    return std::span<const T>(all).subspan(items.begin, items.end - items.begin);
  }
};

/// True iff completions of the queue are in order of submission.
inline bool completes_in_order(QueueOrder order) {
  return order == QueueOrder::kSerial || order == QueueOrder::kHost;
}

/// The program of the plan's first `iterations`; `reaches_end` iff there are no more.
Program make_program(const Plan& plan, const Layout& layout, const ConditionCase& conditions,
                     std::uint32_t iterations, bool reaches_end = true);

}  // namespace memverify
