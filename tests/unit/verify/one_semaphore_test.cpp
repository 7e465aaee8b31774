// Small plans whose order was found by hand; tests/agreement/one_semaphore_test.cpp has the rest.
#include "verify/one_semaphore.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/reader.h"
#include "sim/replay.h"
#include "verify/verify.h"

namespace memverify {
namespace {

/// Ops on queues q0 to q3; tensor `x` is an input that all may write.
Plan takers_plan(const std::string& ops, int initial) {
  const std::string text = R"({"memverify": 1, "pools": [{"id": "p"}],
    "queues": [{"id": "q0"}, {"id": "q1"}, {"id": "q2"}, {"id": "q3"}],
    "semaphores": [{"id": "n", "initial": )" +
                           std::to_string(initial) + R"(}, {"id": "m", "initial": 1}],
    "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "x", "storage": "s", "bytes": 8}],
    "inputs": ["x"], "donated": ["x"],
    "ops": [)" + ops + "]}";
  Result<Plan> plan = read_plan(text, "test.json");
  if (!plan.ok()) ADD_FAILURE() << to_string(plan.errors().front());
  return std::move(plan).value();
}

std::string op(const char* id, const char* queue, const char* rest) {
  return std::string(R"({"id": ")") + id + R"(", "queue": ")" + queue + "\"" + rest + "}";
}
constexpr const char* kTake = R"(, "waits": [{"semaphore": "n", "consume": true}])";
constexpr const char* kGive = R"(, "signals": [{"semaphore": "n"}])";
constexpr const char* kLocked =
    R"(, "waits": [{"semaphore": "n", "consume": true}], "signals": [{"semaphore": "n"}], "writes": ["x"])";

/// "MV101 a b; ...", every witness replayed.
std::string told(const Plan& plan) {
  std::string text;
  for (const Finding& finding : verify_happens_before(plan, {}).findings) {
    text += (text.empty() ? "" : "; ") + std::string(info(finding.rule).id);
    for (OpId id : finding.ops) text += " " + std::string(plan.ops[id].name);
    if (finding.rule == Rule::kNotProven) continue;
    EXPECT_TRUE(replay(plan, finding).confirmed) << text;
  }
  return text;
}

struct Made {
  Plan plan;
  Layout layout;
  Program program;
};
Made made(Plan plan) {
  Layout layout = Layout::make(plan, {}).value();
  return {std::move(plan), std::move(layout), {}};
}

TEST(OneSemaphore, ClocksOfACountedExample) {
  Made m = made(takers_plan(op("g0", "q0", kGive) + "," + op("g1", "q1", kGive) + "," +
                                op("t0", "q2", kTake) + "," + op("t1", "q2", kTake) + "," +
                                op("t2", "q2", kTake) + "," + op("v", "q3", kTake) + "," +
                                op("w", "q3", kGive),
                            2));
  m.program = make_program(m.plan, m.layout, ConditionCase(m.plan, 1), 1);
  const OneSemaphore semaphore(m.program);
  ASSERT_EQ(semaphore.obstacle(), "");
  const Order& order = semaphore.order();
  enum : Cmd { kG0, kG1, kT0, kT1, kT2, kV, kW };
  // Two tokens are there: t0 and t1 need nobody, t2 a third from g0, g1 or (after v took) none.
  EXPECT_FALSE(order.before(kG0, kT1));
  EXPECT_FALSE(order.before(kG1, kT1));
  EXPECT_FALSE(order.before(kG0, kT2));
  EXPECT_FALSE(order.before(kG1, kT2));
  EXPECT_TRUE(order.before(kT1, kT2));
  EXPECT_FALSE(order.before(kT0, kV));
  EXPECT_TRUE(order.before(kV, kW));
  EXPECT_TRUE(semaphore.walk().all_completed);
}

TEST(OneSemaphore, AllTokensThatAreGivenMustBe) {
  Made m = made(takers_plan(op("g0", "q0", kGive) + "," + op("g1", "q1", kGive) + "," +
                                op("t0", "q2", kTake) + "," + op("u0", "q3", kTake) + "," +
                                R"({"id": "z", "queue": "q3", "after": ["t0"]})",
                            0));
  m.program = make_program(m.plan, m.layout, ConditionCase(m.plan, 1), 1);
  const OneSemaphore semaphore(m.program);
  ASSERT_EQ(semaphore.obstacle(), "");
  enum : Cmd { kG0, kG1, kT0, kU0, kZ };
  // Either token will do for one of them; both together need both.
  EXPECT_FALSE(semaphore.order().before(kG0, kT0));
  EXPECT_FALSE(semaphore.order().before(kG1, kU0));
  EXPECT_TRUE(semaphore.order().before(kG0, kZ));
  EXPECT_TRUE(semaphore.order().before(kG1, kZ));
}

TEST(OneSemaphore, AMutexKeepsWritersApart) {
  const std::string two = op("a", "q0", kLocked) + "," + op("b", "q1", kLocked);
  EXPECT_EQ(told(takers_plan(two, 1)), "");
  EXPECT_EQ(told(takers_plan(two, 2)), "MV103 a b");
}

TEST(OneSemaphore, AMutexDoesNotSayWhoseBytesAreFound) {
  EXPECT_EQ(told(takers_plan(op("a", "q0", kLocked) + "," + op("b", "q1", kLocked) + "," +
                                 R"({"id": "r", "queue": "q0", "reads": ["x"], "after": ["b"]})",
                             1)),
            "MV104 a r");
}

TEST(OneSemaphore, TwoPermitsAndThreeWorkers) {
  const std::string workers = op("a", "q0", kLocked) + "," +
                              op("b", "q1", (std::string(kTake) + kGive).c_str()) + "," +
                              op("c", "q2", kLocked);
  EXPECT_EQ(told(takers_plan(workers, 2)), "MV103 a c");
  EXPECT_EQ(told(takers_plan(workers, 1)), "");
}

TEST(OneSemaphore, TwoThatHoldOneAndWantAnotherBlock) {
  const std::string both =
      op("a", "q0", kTake) + "," + op("b", "q1", kTake) + "," + op("a2", "q0", kTake) + "," +
      op("b2", "q1", kTake) + "," +
      R"({"id": "a3", "queue": "q0", "signals": [{"semaphore": "n", "value": 2}]},
                               {"id": "b3", "queue": "q1", "signals": [{"semaphore": "n", "value": 2}]})";
  EXPECT_EQ(told(takers_plan(both, 2)), "MV111 a2; MV111 b2");
  EXPECT_EQ(told(takers_plan(both, 3)), "");
}

TEST(OneSemaphore, OrderBetweenTakesAndTwoSemaphoresAreLeftOpen) {
  EXPECT_EQ(told(takers_plan(op("a", "q0", kTake) + "," +
                                 R"({"id": "b", "queue": "q1", "after": ["a"],
                                     "waits": [{"semaphore": "n", "consume": true}]})",
                             2)),
            "MV201");
  const char* other = R"(, "waits": [{"semaphore": "m", "consume": true}])";
  EXPECT_EQ(told(takers_plan(op("a", "q0", kTake) + "," + op("b", "q1", kTake) + "," +
                                 op("c", "q2", other) + "," + op("d", "q3", other),
                             2)),
            "MV201");
}

}  // namespace
}  // namespace memverify
