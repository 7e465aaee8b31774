// Runs of the mock driver are runs of the plan, and the other way round: random walks of each,
// followed by the other. This also holds where semaphores are taken from, of which happens-before
// alone says nothing.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cuda_check/follow.h"
#include "device/corpus.h"
#include "plan/writer.h"
#include "sim/program.h"
#include "sim/state.h"
#include "support/random_plan.h"
#include "unit/sim/plans.h"

namespace memverify {
namespace {

using device::Follower;
using device::Instant;

constexpr int kWalks = 6;

sim::Case case_of(const Plan& plan, const device::Settled& settled) {
  sim::Case one{.symbols = settled.symbols,
                .iterations = settled.iterations,
                .unrolled = settled.unrolled,
                .conditions = sim::ConditionValues(plan, settled.unrolled)};
  for (const ConditionId c : ids(plan.conditions)) {
    for (std::int64_t i = 0; i < settled.unrolled; ++i) {
      one.conditions.set(c, i, settled.conditions.get(c, i));
    }
  }
  return one;
}

sim::CommandId same(device::CommandId c) { return sim::CommandId{index(c)}; }

bool can(sim::Execution& execution, const Instant& instant) {
  return instant.complete ? execution.can_finish(same(instant.command))
                          : execution.can_start(same(instant.command));
}

void take(sim::Execution& execution, const Instant& instant) {
  if (instant.complete) {
    execution.finish(same(instant.command));
  } else {
    execution.start(same(instant.command));
  }
}

std::vector<Instant> possible(sim::Execution& execution, std::size_t commands) {
  std::vector<Instant> all;
  for (const device::CommandId c : ids<device::CommandId>(commands)) {
    for (const bool complete : {false, true}) {
      const Instant instant{c, complete};
      if (execution.phase(same(c)) != sim::Phase::kDone && can(execution, instant)) {
        all.push_back(instant);
      }
    }
  }
  return all;
}

std::string at(const Plan& plan, const device::Calls& calls, const Instant& instant) {
  return (instant.complete ? "completion of " : "start of ") +
         device::command_name(plan, calls, instant.command) + "\n" + write_plan(plan);
}

/// In each walk both go the same way, and must have the same choice at every step.
std::size_t walk_together(const Plan& plan, const device::Settled& settled,
                          std::mt19937_64& random) {
  const Result<device::Calls> calls = device::lower(plan, settled);
  const Result<sim::Program> program = sim::make_program(plan, case_of(plan, settled));
  if (!calls.ok() || !program.ok()) return 0;
  EXPECT_EQ(calls.value().commands.size(), program.value().commands.size());
  std::size_t steps = 0;
  for (int n = 0; n < kWalks; ++n) {
    Follower follower(calls.value());
    sim::Execution execution(program.value());
    for (;;) {
      const std::vector<Instant> ours = follower.possible();
      const std::vector<Instant> theirs = possible(execution, program.value().commands.size());
      for (const Instant& instant : ours) {
        EXPECT_TRUE(can(execution, instant))
            << "the plan does not allow the " << at(plan, calls.value(), instant);
      }
      for (const Instant& instant : theirs) {
        EXPECT_TRUE(follower.can(instant))
            << "the calls do not allow the " << at(plan, calls.value(), instant);
      }
      if (ours.empty() || ::testing::Test::HasFailure()) break;
      const Instant next = ours[random() % ours.size()];
      take(execution, next);
      follower.take(next);
      ++steps;
    }
  }
  return steps;
}

TEST(Runs, OfCallsAreRunsOfThePlanOnTheCorpus) {
  std::mt19937_64 random(1);
  std::size_t steps = 0;
  for (const auto& [name, plan] : device_test::corpus(".json")) {
    SCOPED_TRACE(name);
    for (const bool value : {false, true}) {
      steps += walk_together(plan, device_test::settled(plan, value), random);
      if (HasFailure()) return;
      if (plan.conditions.empty()) break;
    }
  }
  EXPECT_GT(steps, 20'000U);
}

TEST(Runs, OfCallsAreRunsOfThePlanOnRandomPlans) {
  std::mt19937_64 random(2);
  std::size_t steps = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Plan plan = sim_test::random_plan(seed);
    steps += walk_together(plan, device_test::settled(plan, false), random);
    const std::optional<Plan> other = testing::plan_of(testing::random_mutated_plan(seed));
    if (other) steps += walk_together(*other, device_test::settled(*other, seed % 2 == 0), random);
    if (HasFailure()) return;
  }
  EXPECT_GT(steps, 10'000U);
}

}  // namespace
}  // namespace memverify
