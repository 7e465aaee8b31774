// tools/plan_report.h -- what `memverify plan` says about a placement.
#pragma once

#include <string>
#include <string_view>

#include "planner/plan_graph.h"
#include "tools/style.h"
#include "tools/plan_advice.h"
#include "tools/plan_branches.h"
#include "tools/slot_gain.h"

namespace memverify {

struct PlanReport {
  std::string_view strategy;
  std::string_view verdict;  ///< Of the plan as it is written; "" when it was not asked for.
  const Plan* graph = nullptr;
  const PlannedGraph* planned = nullptr;
  const SlotGain* slots = nullptr;
  const BranchPrices* branches = nullptr;
  const AdviceFound* advice = nullptr;  ///< For one that does not fit.
  std::string note;                     ///< What was done otherwise than asked for; may be empty.
};

/// Pools, the tensors at the peak of each, then one line on the whole.
std::string plan_text(const PlanReport& report);
/// The same as one JSON object and a newline.
std::string plan_json(const PlanReport& report);

/// "1 pool hit, 2 system allocations, 0.67 for each request", without a newline.
std::string allocator_text(const AllocatorCounts& counts);

/// Why the plan is not written: which pools are too small, by how much, and what would help.
std::string too_small_text(const PlanReport& report, const Style& style);

}  // namespace memverify
