// The solver's answer about timed runs against the simulator, which runs every combination of
// delays and durations. Where something takes no time, or takes from a semaphore, the simulator
// tries one order within a tick and the solver all: there only *safe* must be confirmed.
#include "sim/timed.h"

#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "plan/faults.h"
#include "plan/layout.h"
#include "tests/agreement/compare.h"
#include "tests/support/random_plan.h"
#include "verify/cases.h"
#include "verify/smt_timed.h"

namespace memverify::testing {
namespace {

/// Some delays and durations in a random plan.
PlanJson timed_plan(std::uint64_t seed) {
  PlanJson plan = random_mutated_plan(seed);
  Draw draw(seed);
  for (PlanJson& queue : plan["queues"]) {
    queue.erase("delay");
    if (draw.percent(50)) queue["delay"] = {0, draw.below(3)};
  }
  for (PlanJson& op : plan["ops"]) {
    const std::string kind = op.value("kind", "op");
    if (kind == "view") continue;
    op.erase("duration");
    const std::size_t least = kind == "op" || kind == "unknown" ? 1 + draw.below(2) : 0;
    if (draw.percent(50)) op["duration"] = {least, least + draw.below(3)};
  }
  return plan;
}

bool order_within_ticks_matters(const Plan& plan) {
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::kAlloc || op.kind == OpKind::kFree) return true;
    for (const Wait& wait : plan.waits_of(op)) {
      if (wait.consume) return true;
    }
  }
  return false;
}

/// What the text of the plan says is a fault at any time.
bool has_static_fault(const Plan& plan) {
  const SymbolCases symbols(plan);
  for (std::uint64_t k = 0; k < symbols.count().value_or(0); ++k) {
    const Result<Layout> layout = Layout::make(plan, symbols.at(k));
    if (!layout.ok()) return true;
    if (verdict_of(static_faults(plan, layout.value(), 100)) == Verdict::kUnsafe) return true;
  }
  return false;
}

bool has_unknown(const Plan& plan) {
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::kUnknown) return true;
  }
  return false;
}

TEST(TimedAgreement, SolverAndSimulator) {
  const std::uint64_t seeds = setting("MEMVERIFY_TIMED_SEEDS", 150);
  std::uint64_t compared = 0;
  std::uint64_t unsafe = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const PlanJson json = timed_plan(seed);
    const auto plan = plan_of(json);
    if (!plan || !plan->iterations || has_unknown(*plan) || has_static_fault(*plan)) {
      continue;
    }
    const TimedResult simulated = simulate_timed(*plan, {.max_runs = 2000});
    if (!simulated.all || simulated.stopped || !simulated.error.empty()) continue;
    const SmtTimedResult asked = verify_timed(*plan, {});
    if (asked.verdict == Verdict::kUnknown) continue;
    ++compared;
    const bool fails = simulated.failing > 0;
    unsafe += fails ? 1 : 0;
    const bool says = asked.verdict == Verdict::kUnsafe;
    if (says == fails || (says && order_within_ticks_matters(*plan))) continue;
    ADD_FAILURE() << "seed " << seed << ": " << simulated.failing << " of " << simulated.runs
                  << " runs fail"
                  << (simulated.smallest ? " (" + simulated.smallest->fault + ")" : "")
                  << "; the solver says " << name(asked.verdict) << " " << asked.fault << "\n"
                  << json.dump();
  }
  std::cout << compared << " of " << seeds << " plans compared, " << unsafe << " fail in time\n";
  EXPECT_GE(compared, seeds / 3);
  EXPECT_GE(unsafe, compared / 20);
}

}  // namespace
}  // namespace memverify::testing
