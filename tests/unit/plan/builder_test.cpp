#include "plan/builder.h"

#include <gtest/gtest.h>

#include <string>

namespace memverify {
namespace {

PlanBuilder small_plan() {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  b.add_queue({.name = "q"});
  b.add_storage({.name = "s", .pool = "hbm", .slots = {0}, .bytes = 64});
  b.add_tensor({.name = "x", .storage = "s", .bytes = 64});
  return b;
}

std::string all_errors(const Result<Plan>& result) {
  std::string text;
  for (const Diagnostic& error : result.errors()) text += to_string(error) + "\n";
  return text;
}

TEST(Builder, ResolvesNamesInAnyOrder) {
  PlanBuilder b;
  b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "v"}}, .after = {{"r"}}});
  b.add_op({.name = "r", .queue = "q", .reads = {{.tensor = "x"}}});
  b.add_tensor({.name = "v", .view_of = "x", .offset = "n*2", .bytes = 8});
  b.add_tensor({.name = "x", .storage = "s", .bytes = 64});
  b.add_storage({.name = "s", .pool = "hbm", .slots = {0}, .bytes = 64});
  b.add_queue({.name = "q"});
  b.add_pool({.name = "hbm"});
  b.add_symbol({.name = "n"});
  const Result<Plan> result = std::move(b).build();
  ASSERT_TRUE(result.ok()) << all_errors(result);
  const Plan& plan = result.value();
  ASSERT_EQ(plan.ops.size(), 2U);
  EXPECT_EQ(plan.ops[OpId{0}].name, "w");
  const Access& write = plan.accesses_of(plan.ops[OpId{0}])[0];
  EXPECT_EQ(plan.tensors[write.tensor].name, "v");
  EXPECT_EQ(plan.tensors[write.tensor].root, TensorId{1});
  EXPECT_EQ(plan.tensors[write.tensor].storage, StorageId{0});
  EXPECT_EQ(plan.after_of(plan.ops[OpId{0}])[0].op, OpId{1});
  EXPECT_EQ(plan.formulas.to_string(plan.tensors[write.tensor].offset), "n*2");
}

TEST(Builder, ReportsEveryUnknownNameWithItsPlace) {
  PlanBuilder b = small_plan();
  b.add_op({.name = "w", .queue = "qq", .writes = {{.tensor = "y"}}});
  const Result<Plan> result = std::move(b).build();
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.errors().size(), 2U) << all_errors(result);
  EXPECT_EQ(result.errors()[0].pointer, "/ops/0/queue");
  EXPECT_EQ(result.errors()[0].id, "queue.unknown");
  EXPECT_NE(result.errors()[0].message.find("did you mean `q`?"), std::string::npos);
  EXPECT_EQ(result.errors()[1].pointer, "/ops/0/writes/0");
}

}  // namespace
}  // namespace memverify
