// The engine end to end on small plans: one rule, one behaviour each. The corpus and the agreement
// tests cover the rest.
#include "verify/verify.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/reader.h"
#include "sim/replay.h"

namespace memverify {
namespace {

Plan plan_of(const std::string& ops, const std::string& rest = "") {
  const std::string text = R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}, {"id": "r"}, {"id": "dma", "order": "issue"}, {"id": "pool", "order": "none"},
      {"id": "host", "order": "host"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64},
                 {"id": "t", "pool": "hbm", "offset": 0, "bytes": 64},
                 {"id": "u", "pool": "hbm", "offset": 64, "bytes": 64}],
    "tensors": [{"id": "X", "storage": "s", "offset": 0, "bytes": 64},
                {"id": "V", "view_of": "X", "offset": 32, "bytes": 32},
                {"id": "Y", "storage": "t", "offset": 0, "bytes": 64},
                {"id": "Z", "storage": "u", "offset": 0, "bytes": 64}],
    "ops": [)" + ops + "]" +
                           (rest.empty() ? "" : ", " + rest) + "}";
  Result<Plan> plan = read_plan(text, "test.json");
  if (!plan.ok()) ADD_FAILURE() << to_string(plan.errors().front());
  return std::move(plan).value();
}

/// "MV101 a b; MV103 c d": every finding with its ops.
std::string told(const Plan& plan, const EngineResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) {
    text += (text.empty() ? "" : "; ") + std::string(info(finding.rule).id);
    for (OpId op : finding.ops) text += " " + std::string(plan.ops[op].name);
  }
  return text;
}

std::string verify(const Plan& plan) { return told(plan, verify_happens_before(plan, {})); }

TEST(Verify, OrderOfAppearanceProvesNothing) {
  const Plan plan = plan_of(R"({"id": "w", "queue": "q", "writes": ["X"]},
    {"id": "u", "queue": "q", "reads": ["V"], "writes": ["Z"]},
    {"id": "v", "queue": "r", "writes": ["Y"]})");
  EXPECT_EQ(verify(plan), "MV101 u v; MV103 w v");
}

TEST(Verify, StaleBytesBesideRacingOnesAreSaidToBeStale) {
  const std::string ops = R"({"id": "write", "queue": "q", "writes": ["V"]},
    {"id": "trash", "queue": "q", "clobbers": [{"tensor": "Y"}], "signals": [{"event": "e"}]},
    {"id": "read", "queue": "r", "reads": ["X"], "waits": [{"event": "e"}]})";
  EXPECT_EQ(verify(plan_of(ops)), "MV104 trash read; MV105 read");
  const std::string again = R"(, {"id": "again", "queue": "q",
    "writes": [{"tensor": "Y", "offset": 32, "bytes": 16}]})";
  EXPECT_EQ(verify(plan_of(ops + again)), "MV101 read again; MV104 trash read; MV105 read");
}

TEST(Verify, AnAllocEndsWhatIsAccumulatedIntoANamedValue) {
  const std::string ops = R"({"id": "a", "kind": "alloc", "queue": "q", "storage": "u"},
    {"id": "w", "queue": "q", "writes": ["Z"]}, {"id": "sum", "queue": "q", "accumulates": ["Z"]})";
  const std::string outputs = R"("outputs": [{"tensor": "Z", "from": "w"}])";
  EXPECT_EQ(verify(plan_of(ops, outputs)), "");
  const std::string again = R"(, {"id": "f", "kind": "free", "queue": "q", "storage": "u"},
    {"id": "b", "kind": "alloc", "queue": "q", "storage": "u"})";
  EXPECT_EQ(verify(plan_of(ops + again, outputs)), "MV106 sum");
}

TEST(Verify, AnEventOrdersTheReuse) {
  const Plan plan = plan_of(R"({"id": "w", "queue": "q", "writes": ["X"]},
    {"id": "u", "queue": "q", "reads": ["V"], "writes": ["Z"], "signals": [{"event": "e"}]},
    {"id": "v", "queue": "r", "writes": ["Y"], "waits": [{"event": "e"}]})");
  EXPECT_EQ(verify(plan), "");
}

TEST(Verify, ARaceNamesTheFirstClashingBytesAndTheAliasChain) {
  const Plan plan =
      plan_of(R"({"id": "w", "queue": "q", "writes": ["X"], "signals": [{"event": "e"}]},
    {"id": "u", "queue": "q", "reads": ["V"]},
    {"id": "v", "queue": "r", "writes": ["Y"], "waits": [{"event": "e"}]})");
  const EngineResult result = verify_happens_before(plan, {});
  ASSERT_EQ(told(plan, result), "MV101 u v");
  const Finding& finding = result.findings.front();
  EXPECT_EQ(finding.bytes, (ByteRange{32, 64}));
  ASSERT_EQ(finding.alias_chain.size(), 2U);
  EXPECT_EQ(plan.tensors[finding.alias_chain[0]].name, "V");
  EXPECT_EQ(plan.tensors[finding.alias_chain[1]].name, "X");
  // w must complete; u and v start: no more is needed.
  EXPECT_EQ(finding.witness.size(), 4U);
}

TEST(Verify, OnePairHasOneFindingUnderItsLowestRule) {
  const Plan plan = plan_of(R"({"id": "a", "queue": "q", "reads": ["X"], "writes": ["X"]},
    {"id": "b", "queue": "r", "reads": ["X"], "writes": ["X"]})",
                            R"("inputs": ["X"], "outputs": ["X"])");
  const EngineResult result = verify_happens_before(plan, {});
  ASSERT_EQ(told(plan, result), "MV101 a b");
  EXPECT_EQ(result.findings.front().also, (std::vector<Rule>{Rule::kRaw, Rule::kWaw}));
}

TEST(Verify, CompletionsOfAnIssueQueueMayReorder) {
  const std::string reader = R"(, {"id": "u", "queue": "q", "reads": ["X"], "waits": [)";
  const std::string loads = R"({"id": "x", "queue": "dma", "writes": ["X"]},
    {"id": "z", "queue": "dma", "writes": ["Z"]})";
  EXPECT_EQ(verify(plan_of(loads + reader + R"({"queue": "dma", "outstanding": 1}]})")),
            "MV102 x u");
  EXPECT_EQ(verify(plan_of(loads + reader + R"({"queue": "dma", "pending": 1}]})")), "");
}

TEST(Verify, ARecordOnAQueueWithoutOrderCollectsAllOfIt) {
  EXPECT_EQ(verify(plan_of(R"({"id": "x", "queue": "pool", "writes": ["X"]},
    {"id": "z", "queue": "pool", "writes": ["Z"]},
    {"id": "e", "kind": "record", "queue": "pool", "event": "e"},
    {"id": "u", "queue": "q", "reads": ["X", "Z"], "waits": [{"event": "e"}]})")),
            "");
}

TEST(Verify, AnOrderedOverwriteOfALiveValueIsAWrongVersion) {
  const Plan plan = plan_of(R"({"id": "w", "queue": "q", "writes": ["X"]},
    {"id": "v", "queue": "q", "writes": ["Y"]},
    {"id": "u", "queue": "q", "reads": ["V"]})");
  EXPECT_EQ(verify(plan), "MV104 v u");
}

TEST(Verify, AClobberLeavesNothingOfValue) {
  EXPECT_EQ(verify(plan_of(R"({"id": "w", "queue": "q", "writes": ["X"]},
    {"id": "c", "queue": "q", "clobbers": [{"pool": "hbm", "offset": 60, "bytes": 8}]},
    {"id": "u", "queue": "q", "reads": ["X"]})")),
            "MV104 c u");
}

TEST(Verify, ADeadlockNamesWhoWaits) {
  const Plan plan = plan_of(R"({"id": "a", "queue": "q", "writes": ["X"], "after": ["b"]},
    {"id": "b", "queue": "r", "writes": ["Z"], "after": ["a"]})");
  EXPECT_EQ(verify(plan), "MV111 a b; MV111 b a");
}

TEST(Verify, ABarrierOnAHostQueueHoldsBackItsThread) {
  EXPECT_EQ(verify(plan_of(R"({"id": "w", "queue": "q", "writes": ["X"]},
    {"id": "b", "kind": "barrier", "queues": ["host", "q"]},
    {"id": "v", "queue": "dma", "writes": ["Y"]})")),
            "");
}

TEST(Verify, AnAccessBeforeAnAllocThatNeverRunsIsOutsideIt) {
  EXPECT_EQ(verify(plan_of(R"({"id": "a", "kind": "alloc", "queue": "pool", "storage": "s",
      "after": ["z"]},
    {"id": "w", "queue": "pool", "writes": ["X"]},
    {"id": "z", "queue": "q", "after": ["a"]})")),
            "MV111 a z; MV111 z a; MV112 a w");
}

TEST(Verify, AVersionIsWhatACommandWroteByHoweverManyAccesses) {
  EXPECT_EQ(verify(plan_of(R"({"id": "w", "queue": "q", "writes": ["X", "Y"]},
    {"id": "u", "queue": "q", "reads": ["X"]})")),
            "MV107 w");
}

TEST(Verify, AnInputThatItsOwnFamilyOverwritesIsReportedOnceWithItsRun) {
  const Plan plan = plan_of(R"({"id": "w", "queue": "q", "writes": ["V"]})", R"("inputs": ["X"])");
  const EngineResult result = verify_happens_before(plan, {});
  EXPECT_EQ(told(plan, result), "MV106 w");
  EXPECT_EQ(result.findings.front().witness.size(), 2U);
}

/// An op of iteration 0 that uses what belongs to two iterations before touches another slot.
TEST(Verify, AConstantOverwrittenInAnotherSlotIsShownThere) {
  Result<Plan> plan = read_plan(R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": [0, 2, 0], "bytes": 2}],
    "tensors": [{"id": "X", "storage": "s", "bytes": 2}],
    "ops": [{"id": "a", "queue": "q", "accumulates": [{"tensor": "X", "distance": 2}]}],
    "constants": ["X"]})",
                                "test.json");
  ASSERT_TRUE(plan.ok()) << to_string(plan.errors().front());
  const EngineResult result = verify_happens_before(plan.value(), {});
  ASSERT_EQ(told(plan.value(), result), "MV106 a");
  EXPECT_EQ(result.findings.front().bytes, (ByteRange{2, 4}));
  EXPECT_TRUE(replay(plan.value(), result.findings.front()).confirmed);
}

TEST(Verify, WhatAnUnknownCommandMayHaveChangedIsNotProven) {
  EXPECT_EQ(verify(plan_of(R"({"id": "u", "queue": "q", "reads": ["X"]},
    {"id": "f", "kind": "unknown", "queue": "q", "writes": ["X"]})")),
            "MV201 f u");
  EXPECT_EQ(verify(plan_of(R"({"id": "w", "queue": "q", "writes": ["X"]},
    {"id": "u", "queue": "q", "reads": [{"tensor": "X", "from": "initial"}]},
    {"id": "f", "kind": "unknown", "queue": "q", "reads": ["X"]})",
                           R"("inputs": ["X"], "donated": ["X"])")),
            "MV201 f u");
}

TEST(Verify, AClaimedPeakIsTooHighIfNoSymbolValueNeedsIt) {
  const auto told_of = [](const std::string& peak) {
    Result<Plan> plan = read_plan(R"({"memverify": 1, "symbols": {"n": {"min": 1, "max": 8}},
      "pools": [{"id": "hbm"}], "queues": [{"id": "q"}],
      "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": "8*n"}],
      "tensors": [{"id": "X", "storage": "s", "offset": 0, "bytes": "8*n"}],
      "ops": [{"id": "w", "queue": "q", "writes": ["X"]}], "peak_bytes": {"hbm": )" +
                                      peak + "}}",
                                  "test.json");
    return plan.ok() ? verify(plan.value()) : to_string(plan.errors().front());
  };
  EXPECT_EQ(told_of("64"), "");
  EXPECT_EQ(told_of("65"), "MV301");
  EXPECT_EQ(told_of("63"), "MV110");
}

TEST(Verify, AnUnknownCommandMayUseItsStorageAfterTheFree) {
  EXPECT_EQ(verify(plan_of(R"({"id": "a", "kind": "alloc", "queue": "q", "storage": "s"},
    {"id": "w", "queue": "q", "writes": ["X"]},
    {"id": "f", "kind": "unknown", "queue": "q", "writes": ["X"]},
    {"id": "d", "kind": "free", "queue": "q", "storage": "s"})")),
            "MV201 f d");
}

TEST(Verify, SymbolsMayRangeOverAllIntegers) {
  const auto verdict_of = [](const std::string& range, const std::string& bytes) {
    Result<Plan> plan = read_plan(
        R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "q"}, {"id": "r"}],
        "symbols": {"n": {)" +
            range +
            R"(}}, "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 8}],
        "tensors": [{"id": "t", "storage": "s", "bytes": ")" +
            bytes +
            R"("}, {"id": "u", "storage": "s", "bytes": 8}], "inputs": ["u"], "donated": ["u"],
        "ops": [{"id": "w", "queue": "q", "writes": ["t"]}, {"id": "r", "queue": "r", "reads": ["u"]}]})",
        "test.json");
    return plan.ok() ? verify(plan.value()) : to_string(plan.errors().front());
  };
  EXPECT_EQ(
      verdict_of(R"("min": -9223372036854775808, "max": 9223372036854775807)", "max(0, min(n, 8))"),
      "MV102 w r; MV201");
  EXPECT_EQ(verdict_of(R"("min": -4611686018427387904, "max": 9223372036854775807,
                          "multiple_of": 4611686018427387904)",
                       "8 + n * 0"),
            "MV102 w r");
}

TEST(Verify, IterationsPastTheLimitAreNotJudgedAsTheLast) {
  const Plan plan = plan_of(R"({"id": "w", "queue": "q", "writes": ["X"],
      "signals": [{"semaphore": "n"}]},
    {"id": "u", "queue": "r", "runs": "first", "waits": [{"semaphore": "n", "value": 100}]},
    {"id": "last", "queue": "q", "runs": "last", "writes": ["Z"]})",
                            R"("semaphores": [{"id": "n"}], "iterations": 1000, "outputs": ["X"])");
  EXPECT_EQ(verify(plan), "");
  EXPECT_EQ(told(plan, verify_happens_before(plan, {.max_instances = 300})), "MV201");
}

TEST(Verify, SyncsWithoutEffectAreWarnings) {
  const Plan plan =
      plan_of(R"({"id": "w", "queue": "q", "writes": ["X"], "waits": [{"event": "never"}]},
    {"id": "e", "kind": "record", "queue": "q", "event": "unheard"})");
  const EngineResult result = verify_happens_before(plan, {});
  EXPECT_EQ(told(plan, result), "MV301 w; MV301 e");
  EXPECT_EQ(result.verdict, Verdict::kSafe);
}

TEST(Verify, WhatOneQueueAloneTakesIsACount) {
  const auto ring = [](const char* credits) {
    return plan_of(std::string(R"({"id": "w0", "queue": "q", "writes": ["X"],
           "waits": [{"semaphore": "free", "consume": true}], "signals": [{"semaphore": "full"}]},
         {"id": "u0", "queue": "r", "reads": ["X"],
           "waits": [{"semaphore": "full", "consume": true}], "signals": [{"semaphore": "free"}]},
         {"id": "w1", "queue": "q", "writes": ["X"],
           "waits": [{"semaphore": "free", "consume": true}], "signals": [{"semaphore": "full"}]},
         {"id": "u1", "queue": "r", "reads": ["X"],
           "waits": [{"semaphore": "full", "consume": true}], "signals": [{"semaphore": "free"}]})"),
                   std::string(R"("semaphores": [{"id": "full"}, {"id": "free", "initial": )") +
                       credits + "}]");
  };
  EXPECT_EQ(verify(ring("1")), "");
  EXPECT_EQ(verify(ring("2")), "MV101 u0 w1");
  EXPECT_EQ(verify(ring("0")).substr(0, 8), "MV111 w0");
}

TEST(Verify, TooManyConditionsAreNotGuessed) {
  std::string ops;
  std::string conditions;
  for (int k = 0; k < 20; ++k) {
    const std::string c = "c" + std::to_string(k);
    conditions += (k == 0 ? "\"" : ", \"") + c + "\"";
    ops += std::string(k == 0 ? "" : ", ") + R"({"id": ")" + c +
           R"(", "queue": "q", "writes": ["X"], "when": {")" + c + R"(": true}})";
  }
  EXPECT_EQ(verify(plan_of(ops, "\"conditions\": [" + conditions + "]")), "MV201");
}

TEST(Verify, StopsAtTheLimitOfFindingsAndSaysSo) {
  std::string ops;
  for (int k = 0; k < 300; ++k) {
    ops += std::string(k == 0 ? "" : ", ") + R"({"id": "w)" + std::to_string(k) +
           R"(", "queue": "pool", "writes": ["X"]})";
  }
  const Plan plan = plan_of(ops);
  const EngineResult result = verify_happens_before(plan, {.max_findings = 7});
  EXPECT_EQ(result.findings.size(), 7U);
  EXPECT_TRUE(result.stopped_at_max_findings);
  EXPECT_EQ(result.verdict, Verdict::kUnsafe);
}

}  // namespace
}  // namespace memverify
