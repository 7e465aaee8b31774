#include "tools/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/random_plan.h"
#include "tests/support/reference.h"

namespace memverify::testing {
namespace {

bool has_rule(const PlanJson& json, Rule rule) {
  const std::optional<Plan> plan = plan_of(json);
  if (!plan) return false;
  const EngineResult result = reference(*plan, {.max_states = 20'000, .max_assignments = 64});
  return std::ranges::count(result.findings, rule, &Finding::rule) > 0;
}

TEST(Shrink, KeepsOnlyTheTwoWritersOfARace) {
  const PlanJson plan = PlanJson::parse(R"({
    "memverify": 1, "name": "race among other things", "iterations": 3,
    "pools": [{"id": "p", "bytes": 64}],
    "queues": [{"id": "q"}, {"id": "r", "depth": 2}, {"id": "idle"}],
    "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8},
                 {"id": "z", "pool": "p", "offset": 8, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}, {"id": "u", "storage": "z", "bytes": 8}],
    "ops": [{"id": "a", "queue": "q", "writes": ["t"], "label": "A"},
            {"id": "other", "queue": "q", "writes": ["u"]},
            {"id": "b", "queue": "r", "writes": ["t"], "after": ["other"]}],
    "outputs": ["u"]})");
  const PlanJson small =
      shrink(plan, [](const PlanJson& json) { return has_rule(json, Rule::kWaw); });
  EXPECT_TRUE(has_rule(small, Rule::kWaw));
  EXPECT_EQ(small["ops"].size(), 2U) << small.dump(1);
  EXPECT_EQ(small["tensors"].size(), 1U);
  EXPECT_EQ(small["storages"].size(), 1U);
  EXPECT_FALSE(small.contains("iterations"));
  EXPECT_FALSE(small.contains("outputs"));
}

TEST(Shrink, LeavesNothingThatAPredicateDoesNotNeed) {
  const PlanJson small = shrink(random_plan(7), [](const PlanJson&) { return true; });
  EXPECT_EQ(small, PlanJson::object());
}

}  // namespace
}  // namespace memverify::testing
