// The order that emitted calls imply, against happens-before: complete(a) precedes start(b) iff b
// cannot start on the mock driver while a is never completed.
#include "verify/order.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cuda_check/machine.h"
#include "device/corpus.h"
#include "plan/layout.h"
#include "plan/writer.h"
#include "support/random_plan.h"
#include "verify/program.h"
#include "verify/walk.h"

namespace memverify {
namespace {

using device::CommandId;

/// How many pairs were ordered and not.
struct Compared {
  std::size_t ordered = 0;
  std::size_t unordered = 0;
};

ConditionCase conditions_of(const Plan& plan, const device::Settled& settled) {
  const auto iterations = static_cast<std::uint32_t>(settled.unrolled);
  ConditionCase conditions(plan, iterations);
  for (const ConditionId c : ids(plan.conditions)) {
    for (std::uint32_t i = 0; i < iterations; ++i) {
      conditions.set(c, i, settled.conditions.get(c, i));
    }
  }
  return conditions;
}

/// Compares every pair of ops; nothing where happens-before does not say.
void compare(const Plan& plan, const device::Settled& settled, Compared& compared) {
  const Result<Layout> layout = Layout::make(plan, settled.symbols);
  const Result<device::Calls> lowered = device::lower(plan, settled);
  if (!layout.ok() || !lowered.ok()) return;
  const device::Calls& calls = lowered.value();
  const Program program = make_program(plan, layout.value(), conditions_of(plan, settled),
                                       static_cast<std::uint32_t>(settled.unrolled));
  if (!program.contended.empty() || program.bad_value) return;
  const Walk run = walk(program);
  const Order order(program, run);
  if (!order.is_known()) return;
  const auto is_op = [&](Cmd cmd) {
    return !program.instances[cmd].gate && program.op(cmd).kind == OpKind::kOp;
  };
  for (const Cmd a : run.order) {
    if (!is_op(a)) continue;
    for (const Cmd b : run.order) {
      if (!is_op(b) || a == b) continue;
      const CommandId x = calls.find(program.instances[a].op, program.instances[a].iteration);
      const CommandId y = calls.find(program.instances[b].op, program.instances[b].iteration);
      ASSERT_NE(x, kNone<CommandId>);
      ASSERT_NE(y, kNone<CommandId>);
      const bool before = order.before(a, b);
      ASSERT_EQ(before, !device::can_start_without(calls, y, x))
          << program.op(a).name << " (" << program.instances[a].iteration << ") before "
          << program.op(b).name << " (" << program.instances[b].iteration << ")\n"
          << write_plan(plan);
      ++(before ? compared.ordered : compared.unordered);
    }
  }
}

TEST(Order, OfCallsIsHappensBeforeOnEveryCorpusPlan) {
  Compared compared;
  for (const auto& [name, plan] : device_test::corpus(".json")) {
    SCOPED_TRACE(name);
    for (const bool value : {false, true}) {
      compare(plan, device_test::settled(plan, value), compared);
      if (HasFatalFailure()) return;
      if (plan.conditions.empty()) break;
    }
  }
  EXPECT_GT(compared.ordered, 3000U);
  EXPECT_GT(compared.unordered, 1000U);
}

TEST(Order, OfCallsIsHappensBeforeOnRandomPlans) {
  Compared compared;
  for (std::uint64_t seed = 0; seed < 700; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto plan = testing::random_mutated_plan(seed);
    const std::optional<Plan> placed = testing::plan_of(plan);
    if (placed) compare(*placed, device_test::settled(*placed, seed % 2 == 0), compared);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(compared.ordered, 1000U);
  EXPECT_GT(compared.unordered, 1000U);
}

}  // namespace
}  // namespace memverify
