// tools/slot_gain.h -- what rotating slots cost in bytes, and what they gain in time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/json_text.h"
#include "tools/allowance.h"
#include "tools/planning.h"

namespace memverify {

/// Ticks that one queue is busy in each iteration, every op taking its longest.
struct QueueLoad {
  QueueId queue = kNone<QueueId>;
  std::int64_t ticks = 0;
};

struct SlotGain {
  std::vector<TensorId> tensors;  ///< Those that rotate.
  std::int64_t slots = 0;         ///< The most that one of them has.
  std::int64_t bytes = 0;         ///< Of all slots but the first of each.
  /// How much the peaks of all pools together are above those of a plan with one slot; nullopt: the
  /// syncs do not allow one.
  std::optional<std::int64_t> peak_cost;
  std::vector<QueueLoad> loads;  ///< Of the queues that do something, the busiest first.
  std::int64_t sum = 0;          ///< Ticks when all queues take turns.
  std::int64_t longest = 0;      ///< Ticks when all overlap: no cycle is shorter.
  /// Ticks that timed runs of the plan take for one more iteration; nullopt: not within the time,
  /// or too many ops to try.
  std::optional<double> cycle;
  std::optional<double> cycle_of_one;  ///< The same for the plan with one slot.
};

/// nullopt: nothing rotates. `planning` is good. Plans the graph once more, with one slot, and runs
/// both plans in time, within the allowance.
std::optional<SlotGain> find_slot_gain(const std::string& file, const Plan& graph,
                                       const PlanGraphOptions& how, const Planning& planning,
                                       const Allowance& allowance);

std::string slot_gain_text(const Plan& graph, const SlotGain& gain);
/// The member `slots` of an object that is open.
void add_slot_gain(JsonText& json, const Plan& graph, const SlotGain& gain);

}  // namespace memverify
