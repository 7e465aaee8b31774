// The solver end to end on small plans: what clocks do not decide, and limits. The corpus and the
// agreement tests cover the rest.
#include "verify/smt_verify.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "plan/describe.h"
#include "plan/reader.h"
#include "sim/replay.h"

namespace memverify {
namespace {

Plan plan_of(const std::string& ops, const std::string& rest = "") {
  const std::string text = R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}, {"id": "r"}, {"id": "pool", "order": "none"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}],
    "tensors": [{"id": "X", "storage": "s", "offset": 0, "bytes": 64}],
    "ops": [)" + ops + "]" +
                           (rest.empty() ? "" : ", " + rest) + "}";
  Result<Plan> plan = read_plan(text, "test.json");
  if (!plan.ok()) ADD_FAILURE() << to_string(plan.errors().front());
  return std::move(plan).value();
}

/// "MV103 a b; MV111 c": rules and ops of what is found, every run replayed.
std::string found(const Plan& plan, const SmtOptions& options = {}) {
  std::string text;
  for (const Finding& finding : verify_smt(plan, options).findings) {
    text += (text.empty() ? "" : "; ") + std::string(info(finding.rule).id);
    for (const OpId op : finding.ops) text += " " + std::string(plan.ops[op].name);
    if (finding.witness.empty()) continue;
    const ReplayResult replayed = replay(plan, finding);
    EXPECT_TRUE(replayed.confirmed) << text << ": " << replayed.reason;
  }
  return text;
}

/// Ops that each hold one of `permits` while they write X.
std::string takers(int count) {
  std::string ops;
  for (int k = 0; k < count; ++k) {
    ops += (k == 0 ? "" : ", ") + std::string(R"({"id": "w)") + std::to_string(k) +
           R"(", "queue": "pool", "writes": ["X"], "waits": [{"semaphore": "n", "consume": true}],
              "signals": [{"semaphore": "n"}]})";
  }
  return ops;
}

TEST(VerifySmt, OnePermitOrdersAllThatTakeIt) {
  EXPECT_EQ(found(plan_of(takers(4), R"("semaphores": [{"id": "n", "initial": 1}])")), "");
}

/// Minutes, were the count only known step by step.
TEST(VerifySmt, ALockOfManyIsDecidedWithinFewSteps) {
  const Plan plan = plan_of(takers(12), R"("semaphores": [{"id": "n", "initial": 1}])");
  EXPECT_EQ(found(plan, {.query_steps = 1'000'000, .total_steps = 20'000'000}), "");
}

TEST(VerifySmt, TwoPermitsLetTwoIn) {
  EXPECT_EQ(found(plan_of(takers(3), R"("semaphores": [{"id": "n", "initial": 2}])")),
            "MV103 w0 w1; MV103 w0 w2; MV103 w1 w2");
}

TEST(VerifySmt, WhoTakesFirstMayLeaveTheOtherWaitingForEver) {
  const Plan plan = plan_of(
      R"({"id": "a", "queue": "q", "writes": ["X"], "waits": [{"semaphore": "n", "consume": true}]},
         {"id": "b", "queue": "r", "after": ["a"], "writes": ["X"],
          "waits": [{"semaphore": "n", "consume": true}]})",
      R"("semaphores": [{"id": "n", "initial": 1}])");
  EXPECT_EQ(found(plan), "MV111 b");
}

TEST(VerifySmt, ForwardWaitsInACircleAreADeadlock) {
  const Plan plan = plan_of(
      R"({"id": "a", "queue": "q", "writes": ["X"], "after": ["b"]},
         {"id": "b", "queue": "q", "reads": ["X"]})");
  EXPECT_NE(found(plan).find("MV111"), std::string::npos);
}

/// 40 conditions, of which only the last matters: far more assignments than can be enumerated.
TEST(VerifySmt, ManyConditionsAreFree) {
  std::string ops;
  std::string conditions;
  for (int k = 0; k < 40; ++k) {
    const std::string n = std::to_string(k);
    ops += R"({"id": "r)" + n + R"(", "kind": "record", "queue": "q", "event": "e", "when": {"c)" +
           n + R"(": true}}, )";
    conditions += (k == 0 ? "\"c" : ", \"c") + n + "\"";
  }
  const std::string write = R"({"id": "w", "queue": "q", "writes": ["X"]}, )";
  const std::string read =
      R"({"id": "u", "queue": "r", "reads": ["X"], "waits": [{"event": "e"}]})";
  const std::string always = R"({"id": "last", "kind": "record", "queue": "q", "event": "e"}, )";
  const std::string no_events = R"("conditions": [)" + conditions + "]";
  EXPECT_EQ(found(plan_of(write + ops + always + read, no_events)), "");
  const Plan plan = plan_of(write + ops + read, no_events);
  EXPECT_EQ(found(plan), "MV102 w u");  // When no record is there.
  const EngineResult result = verify_smt(plan, {});
  for (const ConditionValue& value : result.findings.front().when) {
    EXPECT_FALSE(value.value);
  }
}

/// One access may cover bytes that have an initial value and bytes that have none.
TEST(VerifySmt, AnInputIsNoMoreThanItsOwnBytes) {
  Result<Plan> plan = read_plan(R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}], "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}],
    "tensors": [{"id": "X", "storage": "s", "bytes": 64},
                {"id": "V", "view_of": "X", "bytes": 32}],
    "ops": [{"id": "r", "queue": "q", "reads": ["X"]}], "inputs": ["V"], "donated": ["V"]})",
                                "test.json");
  ASSERT_TRUE(plan.ok()) << to_string(plan.errors().front());
  EXPECT_EQ(found(plan.value()), "MV105 r");
}

/// What one op adds through two tensors is one update of the output that either belongs to.
TEST(VerifySmt, AnOpThatAccumulatesTwiceIsOneUpdate) {
  Result<Plan> plan = read_plan(R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}], "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 1}],
    "tensors": [{"id": "X", "storage": "s", "offset": 0, "bytes": 1},
                {"id": "Y", "storage": "s", "offset": 0, "bytes": 1},
                {"id": "V", "view_of": "Y", "bytes": 1}],
    "ops": [{"id": "a", "queue": "q", "accumulates": ["Y", "X"]}],
    "inputs": ["Y"], "donated": ["Y"], "outputs": ["V"]})",
                                "test.json");
  ASSERT_TRUE(plan.ok()) << to_string(plan.errors().front());
  EXPECT_EQ(found(plan.value()), "");  // Its text alone has a fault: MV107, not asked here.
}

TEST(VerifySmt, TheRunOfARaceHoldsNothingElse) {
  const Plan plan = plan_of(
      R"({"id": "idle", "queue": "pool"}, {"id": "before", "queue": "q"},
         {"id": "a", "queue": "q", "writes": ["X"]}, {"id": "b", "queue": "r", "writes": ["X"]})");
  const EngineResult result = verify_smt(plan, {});
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].witness.size(), 4U);  // before starts and ends, a and b start.
}

TEST(VerifySmt, ASpentLimitIsUnknownAndNamesThePair) {
  const Plan plan = plan_of(takers(8), R"("semaphores": [{"id": "n", "initial": 1}])");
  const EngineResult result = verify_smt(plan, {.query_steps = 500});
  EXPECT_EQ(result.verdict, Verdict::kUnknown);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_NE(result.findings[0].message.find("`w0` and `w1`"), std::string::npos)
      << result.findings[0].message;
  EXPECT_NE(result.findings[0].message.find("500 solver steps"), std::string::npos)
      << result.findings[0].message;
}

TEST(VerifySmt, PlansAreDecidedSideBySide) {
  const Plan safe = plan_of(takers(4), R"("semaphores": [{"id": "n", "initial": 1}])");
  const Plan unsafe = plan_of(takers(4), R"("semaphores": [{"id": "n", "initial": 2}])");
  auto other = std::async(std::launch::async, [&] { return verify_smt(safe, {}).verdict; });
  EXPECT_EQ(verify_smt(unsafe, {}).verdict, Verdict::kUnsafe);
  EXPECT_EQ(other.get(), Verdict::kSafe);
}

TEST(VerifySmt, ADumpHoldsTheOrderItself) {
  const Plan plan = plan_of(
      R"({"id": "a", "queue": "q", "writes": ["X"]}, {"id": "b", "queue": "q", "reads": ["X"]})");
  const Result<std::string> text = dump_smt2(plan, {});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text.value().find("a@0 complete"), std::string::npos) << text.value();
  EXPECT_NE(text.value().find("(check-sat)"), std::string::npos);
  const Plan endless =
      plan_of(R"({"id": "a", "queue": "q", "writes": ["X"]})", R"("iterations": "unbounded")");
  EXPECT_FALSE(dump_smt2(endless, {}).ok());
}

}  // namespace
}  // namespace memverify
