#include "tests/bench/plan_generator.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "plan/faults.h"
#include "plan/reader.h"
#include "verify/verify.h"

namespace memverify::bench {
namespace {

/// Reads the plan back, checks that it has no static fault, and returns what happens-before finds.
EngineResult check(const GeneratedPlan& generated) {
  const Result<Plan> plan = read_plan(generated.json, "generated");
  if (!plan.ok()) {
    ADD_FAILURE() << to_string(plan.errors()[0]);
    return {};
  }
  EXPECT_EQ(static_cast<std::int64_t>(plan.value().ops.size()), generated.ops);
  const Result<Layout> layout = Layout::make(plan.value(), {});
  EXPECT_TRUE(layout.ok());
  for (const Finding& finding : static_faults(plan.value(), layout.value(), 1)) {
    ADD_FAILURE() << finding.message;
  }
  return verify_happens_before(plan.value(), {.max_findings = 1000});
}

TEST(PlanGenerator, PlansWithoutConflictsAreSafe) {
  for (const char* order : {"serial", "issue", "none", "mixed"}) {
    for (const char* sync : {"events", "after", "records", "timeline", "counting", "mixed"}) {
      for (const std::int64_t iterations : {1, 2}) {
        if (iterations > 1 && std::string_view(order) != "mixed") continue;
        SCOPED_TRACE(std::string(order) + " " + sync + " " + std::to_string(iterations));
        const EngineResult result = check(generate_plan({.ops = 300,
                                                         .queues = 5,
                                                         .order = order,
                                                         .sync = sync,
                                                         .slots = 24,
                                                         .iterations = iterations,
                                                         .views = 20,
                                                         .strided = 20,
                                                         .in_place = 20}));
        EXPECT_EQ(result.verdict, Verdict::kSafe);
        for (const Finding& finding : result.findings) ADD_FAILURE() << finding.message;
      }
    }
  }
}

TEST(PlanGenerator, ConflictsAreTheOnlyRaces) {
  const GeneratedPlan plan = generate_plan(
      {.ops = 2000, .queues = 4, .order = "mixed", .slots = 32, .conflicts = 2, .seed = 3});
  ASSERT_GT(plan.races, 10);
  const EngineResult result = check(plan);
  EXPECT_EQ(result.verdict, Verdict::kUnsafe);
  EXPECT_EQ(static_cast<std::int64_t>(result.findings.size()), plan.races);
  for (const Finding& finding : result.findings) EXPECT_EQ(finding.rule, Rule::kWaw);
}

TEST(PlanGenerator, GraphsAreUnplaced) {
  const GeneratedPlan graph =
      generate_plan({.ops = 300, .strided = 20, .in_place = 20, .placed = false});
  const Result<Plan> plan = read_plan(graph.json, "generated");
  ASSERT_TRUE(plan.ok()) << to_string(plan.errors()[0]);
  EXPECT_TRUE(plan.value().storages.empty());
  EXPECT_GT(plan.value().in_places.size(), 10U);
}

TEST(PlanGenerator, EqualOptionsGiveEqualPlans) {
  EXPECT_EQ(generate_plan({.ops = 50}).json, generate_plan({.ops = 50}).json);
  EXPECT_NE(generate_plan({.ops = 50}).json, generate_plan({.ops = 50, .seed = 2}).json);
}

}  // namespace
}  // namespace memverify::bench
