#include "tests/bench/plan_generator.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/faults.h"
#include "plan/reader.h"

namespace memverify::bench {
namespace {

/// Reads the plan back and checks that it has no static fault.
void check(const GeneratedPlan& generated) {
  const Result<Plan> plan = read_plan(generated.json, "generated");
  ASSERT_TRUE(plan.ok()) << to_string(plan.errors()[0]);
  EXPECT_EQ(static_cast<std::int64_t>(plan.value().ops.size()), generated.ops);
  const Result<Layout> layout = Layout::make(plan.value(), {});
  ASSERT_TRUE(layout.ok()) << to_string(layout.errors()[0]);
  for (const Finding& finding : static_faults(plan.value(), layout.value(), 1)) {
    ADD_FAILURE() << finding.message;
  }
}

TEST(PlanGenerator, EveryKindOfPlanIsWellFormed) {
  for (const char* order : {"serial", "issue", "none", "mixed"}) {
    for (const char* sync : {"events", "after", "records", "timeline", "counting", "mixed"}) {
      SCOPED_TRACE(std::string(order) + " " + sync);
      check(generate_plan({.ops = 300,
                           .queues = 5,
                           .order = order,
                           .sync = sync,
                           .slots = 24,
                           .iterations = 2,
                           .views = 20,
                           .strided = 20,
                           .in_place = 20,
                           .conflicts = 5}));
    }
  }
}

TEST(PlanGenerator, EqualOptionsGiveEqualPlans) {
  EXPECT_EQ(generate_plan({.ops = 50}).json, generate_plan({.ops = 50}).json);
  EXPECT_NE(generate_plan({.ops = 50}).json, generate_plan({.ops = 50, .seed = 2}).json);
}

}  // namespace
}  // namespace memverify::bench
