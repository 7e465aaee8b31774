// What is emitted, call by call, for every kind of command, wait and queue.
#include "cuda_check/lower.h"

#include "unit/cuda_check/plans.h"

namespace memverify::device {
namespace {

using device_test::plan_with;
using device_test::told;
using Lines = std::vector<std::string>;

Calls lowered(const Plan& plan, Settled settled) {
  Result<Calls> calls = lower(plan, settled);
  if (!calls.ok()) {
    ADD_FAILURE() << to_string(calls.errors().front());
    return {};
  }
  return std::move(calls).value();
}

/// Of one iteration, or as many as the plan has.
Lines calls_of(const std::string& ops, const std::string& members = "") {
  const Plan plan = plan_with(ops, members);
  return told(plan, lowered(plan, settle(plan, default_iterations(plan))));
}

TEST(Lower, ASerialQueueIsOneStreamAndNeedsNothingElse) {
  EXPECT_EQ(
      calls_of(R"({"id": "w", "queue": "a", "writes": ["x"]},
                        {"id": "u", "queue": "a", "reads": ["x"]})"),
      (Lines{"0: start w", "0: work w", "0: finish w", "0: start u", "0: work u", "0: finish u"}));
}

TEST(Lower, AnEventOfAnOpIsRecordedBehindIt) {
  EXPECT_EQ(calls_of(R"({"id": "w", "queue": "a", "writes": ["x"], "signals": [{"event": "e"}]},
                        {"id": "u", "queue": "b", "reads": ["x"], "waits": [{"event": "e"}]})"),
            (Lines{"0: start w", "0: work w", "0: finish w", "0: record 0", "1: wait 0",
                   "1: start u", "1: work u", "1: finish u"}));
}

TEST(Lower, RecordAndWaitAreCommandsOfTheirStreams) {
  EXPECT_EQ(
      calls_of(R"({"id": "w", "queue": "a", "writes": ["x"]},
                        {"id": "r", "kind": "record", "queue": "a", "event": "e"},
                        {"id": "v", "kind": "wait", "queue": "b", "event": "e"},
                        {"id": "u", "queue": "b", "reads": ["x"]})"),
      (Lines{"0: start w", "0: work w", "0: finish w", "0: start r", "0: finish r", "0: record 0",
             "1: wait 0", "1: start v", "1: finish v", "1: start u", "1: work u", "1: finish u"}));
}

TEST(Lower, AWaitThatBindsToNothingIsLeftOut) {
  EXPECT_EQ(calls_of(R"({"id": "u", "queue": "b", "writes": ["x"], "waits": [{"event": "e"}]})"),
            (Lines{"0: start u", "0: work u", "0: finish u"}));
}

TEST(Lower, AnIssueQueueIsAStreamForEachOpAndAnEventAtEachStart) {
  EXPECT_EQ(calls_of(R"({"id": "v", "queue": "i", "writes": ["x"]},
                        {"id": "w", "queue": "i", "writes": ["y"]})"),
            (Lines{"0: start v", "0: record 0", "0: work v", "0: finish v", "1: wait 0",
                   "1: start w", "1: work w", "1: finish w"}));
}

TEST(Lower, ANoneQueueOrdersNothingAndARecordJoinsIt) {
  EXPECT_EQ(
      calls_of(R"({"id": "v", "queue": "n", "writes": ["x"]},
                        {"id": "w", "queue": "n", "writes": ["y"]},
                        {"id": "r", "kind": "record", "queue": "n", "event": "e"},
                        {"id": "u", "queue": "a", "reads": ["x"], "waits": [{"event": "e"}]})"),
      (Lines{"0: start v", "0: work v", "0: finish v", "0: record 0", "1: start w", "1: work w",
             "1: finish w", "1: record 1", "2: start r", "2: wait 0", "2: wait 1", "2: finish r",
             "2: record 1", "3: wait 1", "3: start u", "3: work u", "3: finish u"}));
}

TEST(Lower, AStreamTakesTheNextOpThatWaitsForItsLast) {
  EXPECT_EQ(
      calls_of(R"({"id": "v", "queue": "n", "writes": ["x"]},
                        {"id": "w", "queue": "n", "reads": ["x"], "after": ["v"]})"),
      (Lines{"0: start v", "0: work v", "0: finish v", "0: start w", "0: work w", "0: finish w"}));
}

TEST(Lower, ABarrierJoinsItsQueuesBothWays) {
  EXPECT_EQ(calls_of(R"({"id": "v", "queue": "a", "writes": ["x"]},
                        {"id": "w", "queue": "n", "writes": ["y"]},
                        {"id": "j", "kind": "barrier", "queues": ["a", "n"]},
                        {"id": "u", "queue": "n", "reads": ["x"]})"),
            (Lines{"0: start v", "0: work v", "0: finish v", "1: start w", "1: work w",
                   "1: finish w", "1: record 0", "0: wait 0", "0: start j", "0: finish j",
                   "0: record 0", "1: wait 0", "1: start u", "1: work u", "1: finish u"}));
}

TEST(Lower, AHostQueueMakesItsThreadWait) {
  EXPECT_EQ(calls_of(R"({"id": "v", "queue": "h", "writes": ["x"]},
                        {"id": "w", "queue": "a", "reads": ["x"]})"),
            (Lines{"0: start v", "0: work v", "0: finish v", "0: record 0", "main: wait 0",
                   "1: start w", "1: work w", "1: finish w"}));
}

TEST(Lower, AHostWaitIsDoneByTheThread) {
  EXPECT_EQ(calls_of(R"({"id": "v", "queue": "a", "writes": ["x"]},
                        {"id": "q", "kind": "host_wait", "for": {"queue": "a"}},
                        {"id": "w", "queue": "b", "reads": ["x"]})"),
            (Lines{"0: start v", "0: work v", "0: finish v", "0: record 0", "main: wait 0",
                   "main: start q", "main: finish q", "1: start w", "1: work w", "1: finish w"}));
}

TEST(Lower, AHostWaitForAllWaitsForEveryQueue) {
  EXPECT_EQ(calls_of(R"({"id": "v", "queue": "a", "writes": ["x"]},
                        {"id": "w", "queue": "n", "writes": ["y"]},
                        {"id": "q", "kind": "host_wait", "for": "all"})"),
            (Lines{"0: start v", "0: work v", "0: finish v", "0: record 0", "1: start w",
                   "1: work w", "1: finish w", "1: record 1", "main: wait 0", "main: wait 1",
                   "main: start q", "main: finish q"}));
}

TEST(Lower, DepthMakesTheThreadWaitForACountOfFlags) {
  EXPECT_EQ(calls_of(R"({"id": "u", "queue": "d", "writes": ["x"]},
                        {"id": "v", "queue": "d", "writes": ["y"]},
                        {"id": "w", "queue": "d", "reads": ["x"]})"),
            (Lines{"0: start u", "0: work u", "0: finish u", "0: set 0", "1: start v", "1: work v",
                   "1: finish v", "1: set 1", "main: wait for 1 of flags 0..2", "2: start w",
                   "2: work w", "2: finish w", "2: set 2"}));
}

TEST(Lower, OutstandingCountsAndPendingIsAPrefix) {
  const std::string two = R"({"id": "u", "queue": "n", "writes": ["x"]},
                             {"id": "v", "queue": "n", "writes": ["y"]},)";
  const auto last = [&](const std::string& wait) {
    const Lines all =
        calls_of(two + R"({"id": "w", "queue": "a", "reads": ["x"], "waits": [{"queue":
                                        "n", )" +
                 wait + "}]}");
    return *(all.end() - 4);
  };
  EXPECT_EQ(last(R"("outstanding": 1)"), "2: wait for 1 of flags 0..2");
  EXPECT_EQ(last(R"("outstanding": 0)"), "2: wait for 2 of flags 0..2");
  EXPECT_EQ(last(R"("pending": 1)"), "2: wait for 1 of flags 0..1");
}

TEST(Lower, OnASerialQueueACountIsAnOp) {
  EXPECT_EQ(
      calls_of(R"({"id": "u", "queue": "a", "writes": ["x"]},
                        {"id": "v", "queue": "a", "writes": ["y"]},
                        {"id": "w", "queue": "b", "reads": ["x"],
                         "waits": [{"queue": "a", "outstanding": 1}]})"),
      (Lines{"0: start u", "0: work u", "0: finish u", "0: record 0", "0: start v", "0: work v",
             "0: finish v", "1: wait 0", "1: start w", "1: work w", "1: finish w"}));
}

TEST(Lower, AfterALaterOpIsAFlag) {
  EXPECT_EQ(calls_of(R"({"id": "u", "queue": "a", "reads": ["x"], "after": ["w"]},
                        {"id": "w", "queue": "b", "writes": ["x"]})"),
            (Lines{"0: wait for 1 of flags 0..1", "0: start u", "0: work u", "0: finish u",
                   "1: start w", "1: work w", "1: finish w", "1: set 0"}));
}

TEST(Lower, WhatAnotherThreadSubmitsIsAFlagAndAStreamOfItsOwn) {
  EXPECT_EQ(calls_of(R"({"id": "u", "queue": "a", "writes": ["x"]},
                        {"id": "w", "queue": "a", "thread": "worker", "reads": ["x"]})"),
            (Lines{"0: start u", "0: work u", "0: finish u", "0: set 0",
                   "1: wait for 1 of flags 0..1", "1: start w", "1: work w", "1: finish w"}));
}

TEST(Lower, SemaphoresAreTakenAtTheStartAndGivenAtTheEnd) {
  const Plan plan = plan_with(
      R"({"id": "u", "queue": "a", "writes": ["x"], "signals": [{"semaphore": "t",
          "value": "iteration + 2"}]},
         {"id": "w", "queue": "b", "writes": ["y"], "waits": [{"semaphore": "t", "value": 2},
          {"semaphore": "s", "consume": true}]})",
      R"("iterations": 2, )");
  const Calls calls = lowered(plan, settle(plan, 2));
  ASSERT_EQ(calls.commands.size(), 4U);
  EXPECT_TRUE(calls.takes_away);
  EXPECT_TRUE(calls.semaphores[SemaphoreId{1}].timeline);
  EXPECT_EQ(calls.semaphores[SemaphoreId{0}].value, 1);
  EXPECT_EQ(calls.gives[CommandId{2}].front().value, 3);
  ASSERT_EQ(calls.takes[CommandId{1}].size(), 2U);
  EXPECT_FALSE(calls.takes[CommandId{1}][0].consume);
  EXPECT_TRUE(calls.takes[CommandId{1}][1].consume);
}

TEST(Lower, IterationsCarryOnAndEventsAreRecordedAgain) {
  const Plan plan = plan_with(
      R"({"id": "w", "queue": "a", "writes": ["z"], "signals": [{"event": "e"}]},
         {"id": "u", "queue": "b", "reads": ["z"], "waits": [{"event": "e"}]})",
      R"("iterations": 3, )");
  const Calls calls = lowered(plan, settle(plan, 3));
  EXPECT_EQ(calls.commands.size(), 6U);
  EXPECT_EQ(calls.events, 1U);
  EXPECT_EQ(calls.streams.size(), 2U);
  EXPECT_EQ(calls.find(OpId{1}, 2), CommandId{5});
}

TEST(Lower, ConditionsDropOrPass) {
  const Plan plan = plan_with(
      R"({"id": "v", "queue": "a", "writes": ["x"], "when": {"c": true}},
         {"id": "w", "queue": "a", "writes": ["x"], "when": {"c": true}, "skipped": "pass"},
         {"id": "u", "queue": "a", "writes": ["x"], "runs": "last"})",
      R"("conditions": ["c"], "iterations": 2, )");
  Settled settled = settle(plan, 2);
  settled.conditions.set(ConditionId{0}, 1, true);
  EXPECT_EQ(
      told(plan, lowered(plan, settled)),
      (Lines{"0: start w", "0: finish w", "0: start v", "0: work v", "0: finish v", "0: start w",
             "0: work w", "0: finish w", "0: start u", "0: work u", "0: finish u"}));
}

TEST(Lower, AllocFreeUnknownAndViewTouchNothing) {
  EXPECT_EQ(calls_of(R"({"id": "l", "kind": "alloc", "queue": "a", "storage": "sx"},
                        {"id": "o", "kind": "unknown", "queue": "a", "reads": ["x"]},
                        {"id": "p", "kind": "view", "reads": ["x"], "writes": ["x"]},
                        {"id": "f", "kind": "free", "queue": "a", "storage": "sx"})"),
            (Lines{"0: start l", "0: finish l", "0: start o", "0: finish o", "0: start f",
                   "0: finish f"}));
}

TEST(Lower, BadValuesAndTooManyCommandsAreErrors) {
  const Plan large = plan_with(
      R"({"id": "w", "queue": "a", "reads": ["x"],
          "waits": [{"semaphore": "t", "value": "m * 9223372036854775807"}]})",
      R"("symbols": {"m": {"min": 2, "max": 2}}, )");
  const Result<Calls> calls = lower(large, settle(large, 1));
  ASSERT_FALSE(calls.ok());
  EXPECT_EQ(calls.errors().front().id, "expr.overflow");
  const Plan plan = plan_with(R"({"id": "u", "queue": "n", "writes": ["x"]})");
  const Result<Calls> many = lower(plan, settle(plan, kMaxCommands + 1));
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.errors().front().id, "device.size");
}

}  // namespace
}  // namespace memverify::device
