// planner/tradeoff.h -- how many bytes a graph needs with each number of added waits.
//
// Problem: a wait more turns a conflict into an order, saves bytes and costs time. What is the
//   least peak that k more waits can buy?
// Idea: what matters of a set of waits is the order of commands that it comes to. Orders are
//   visited level by level, each once, whatever waits lead there; each is placed by the search for
//   the lowest peak. Exact: nothing is left out but waits between commands that are ordered already
//   and those that block.
// Cost: a placement for each order; the orders of n commands that no queue orders are exponentially
//   many, so that a limit on them is part of the question.
// Example: q0 writes a; q1 reads it, then writes b; q2 reads it, then writes c. No wait: 3 tensors.
//   q1's write waits for q2's read: 2.
// Tested by tests/unit/planner/tradeoff_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/edit.h"
#include "plan/plan.h"
#include "plan/result.h"

namespace memverify {

struct TradeoffOptions {
  std::size_t max_waits = 4;
  std::size_t max_orders = 5'000;  ///< Orders of commands to place; more is an error.
  double max_seconds = 30;         ///< Of wall time; more is an error.
};

struct TradeoffPoint {
  std::vector<AddedWait> waits;  ///< In the graph; of those with this peak, of the least makespan.
  std::int64_t bytes = 0;        ///< Least peak, all pools together.
  std::int64_t makespan = 0;     ///< Ticks (verify/schedule.h).
};

/// One barrier over all queues in place of waits.
struct BarrierPoint {
  OpId before = kNone<OpId>;  ///< Of the graph: in program order right before this op.
  std::int64_t bytes = 0;
  std::int64_t makespan = 0;
};

struct Tradeoff {
  /// By number of waits, from none on; ends where no wait more changes anything, or at the limit.
  std::vector<TradeoffPoint> curve;
  /// By point of the curve, from one wait on: the barrier that needs no more bytes and the fewest
  /// ticks; nullopt if one barrier does not do.
  std::vector<std::optional<BarrierPoint>> barriers;
  std::size_t orders = 0;  ///< Placed.
};

/// `graph` has tensors to place, and is safe wherever they lie. Errors: those of `place_apart`;
/// "tradeoff.cases" for a graph that repeats, or has conditions or symbols; "tradeoff.unsafe";
/// "tradeoff.too_large" beyond the options, or where a lowest peak is not proven.
Result<Tradeoff> find_tradeoff(const Plan& graph, const TradeoffOptions& options);

}  // namespace memverify
