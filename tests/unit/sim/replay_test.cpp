#include "sim/replay.h"

#include <gtest/gtest.h>

#include <limits>

#include "plan/reader.h"
#include "sim/simulate.h"
#include "tests/unit/sim/plans.h"

namespace memverify {
namespace {

using sim_test::built;
using sim_test::claim;
using sim_test::start_plan;

/// w writes X, u reads it on another queue; with or without an event between them.
Plan two_queues(bool ordered) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}, {"O", 64}});
  OpSpec w{.name = "w", .queue = "q", .writes = {{.tensor = "X"}}};
  OpSpec u{.name = "u", .queue = "r", .reads = {{.tensor = "X"}}, .writes = {{.tensor = "O"}}};
  if (ordered) {
    w.signals = {{.event = "e"}};
    u.waits = {{.target = "e"}};
  }
  b.add_op(w);
  b.add_op(u);
  b.add_output({.tensor = "O"});
  return built(std::move(b));
}

TEST(Replay, ConfirmsARaceWhenBothOpsAreOpen) {
  const Plan plan = two_queues(false);
  EXPECT_TRUE(replay(plan, claim(plan, Rule::kRaw, {"w", "u"}, {"+w", "+u"})).confirmed);
  EXPECT_TRUE(replay(plan, claim(plan, Rule::kRaw, {"w", "u"}, {"+u", "+w"})).confirmed);
}

TEST(Replay, RejectsARaceWhoseRunEndsTooEarlyOrTooLate) {
  const Plan plan = two_queues(false);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kRaw, {"w", "u"}, {"+w"})).confirmed);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kRaw, {"w", "u"}, {"+w", "-w", "+u"})).confirmed);
}

TEST(Replay, RejectsARaceUnderAnotherRuleOrOnOtherBytes) {
  const Plan plan = two_queues(false);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kWar, {"w", "u"}, {"+w", "+u"})).confirmed);
  Finding finding = claim(plan, Rule::kRaw, {"w", "u"}, {"+w", "+u"});
  finding.pool = PoolId{0};
  finding.bytes = {0, 64};
  EXPECT_TRUE(replay(plan, finding).confirmed);
  finding.bytes = {0, 65};
  EXPECT_FALSE(replay(plan, finding).confirmed);
}

TEST(Replay, SaysWhereARunDepartsFromThePlan) {
  const Plan plan = two_queues(true);
  const ReplayResult result = replay(plan, claim(plan, Rule::kRaw, {"w", "u"}, {"+w", "+u"}));
  EXPECT_FALSE(result.confirmed);
  EXPECT_EQ(result.reason, "step 2: start of `u` must wait for `w` (event) to complete");
}

TEST(Replay, GoesOnlySoFar) {
  PlanBuilder b = start_plan({"q"}, {{"X", 0}});
  b.set_unbounded();
  b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "X"}}});
  const Plan plan = built(std::move(b));
  Finding finding = claim(plan, Rule::kRaw, {"w", "w"}, {"+w"});
  finding.witness.front().iteration = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(replay(plan, finding).reason, "iteration 50000000 is further than a replay goes");
}

TEST(Replay, RejectsInstantsThatHappenTwiceOrOutOfOrder) {
  const Plan plan = two_queues(false);
  EXPECT_EQ(replay(plan, claim(plan, Rule::kRaw, {"w", "u"}, {"-w"})).reason,
            "step 1: completion of `w` before its start");
  EXPECT_EQ(replay(plan, claim(plan, Rule::kRaw, {"w", "u"}, {"+w", "+w"})).reason,
            "step 2: start of `w` happens twice");
}

TEST(Replay, ConfirmsAWrongVersionAndNamesItsWriterOnly) {
  PlanBuilder b = start_plan({"q"}, {{"A", 0}, {"B", 0}, {"O", 64}});
  b.add_op({.name = "a", .queue = "q", .writes = {{.tensor = "A"}}});
  b.add_op({.name = "b", .queue = "q", .writes = {{.tensor = "B"}}});
  b.add_op({.name = "u", .queue = "q", .reads = {{.tensor = "A"}}, .writes = {{.tensor = "O"}}});
  const Plan plan = built(std::move(b));
  const auto steps = {std::string_view("+a"), std::string_view("-a"), std::string_view("+b"),
                      std::string_view("-b"), std::string_view("+u")};
  EXPECT_TRUE(replay(plan, claim(plan, Rule::kWrongVersion, {"b", "u"}, steps)).confirmed);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kWrongVersion, {"a", "u"}, steps)).confirmed);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kWrongVersion, {"b", "u"}, {"+a", "-a"})).confirmed);
}

TEST(Replay, ConfirmsAReadOfBytesThatNothingHasWritten) {
  PlanBuilder b = start_plan({"q"}, {{"A", 0}, {"O", 64}});
  b.add_op({.name = "u", .queue = "q", .reads = {{.tensor = "A"}}, .writes = {{.tensor = "O"}}});
  const Plan plan = built(std::move(b));
  EXPECT_TRUE(replay(plan, claim(plan, Rule::kUnwritten, {"u"}, {"+u"})).confirmed);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kUnwritten, {"u"}, {})).confirmed);
}

TEST(Replay, ConfirmsALostInputOnlyOnceEverythingHasCompleted) {
  PlanBuilder b = start_plan({"q"}, {{"I", 0}, {"T", 0}});
  b.add_op({.name = "t", .queue = "q", .writes = {{.tensor = "T"}}});
  b.add_input("I");
  const Plan plan = built(std::move(b));
  Finding finding = claim(plan, Rule::kBoundary, {}, {"+t", "-t"});
  finding.tensors = {TensorId{0}};
  EXPECT_TRUE(replay(plan, finding).confirmed);
  finding.witness.pop_back();
  EXPECT_FALSE(replay(plan, finding).confirmed);
}

Plan deadlocked(std::int64_t signalled) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}});
  b.add_semaphore({.name = "n"});
  b.add_op({.name = "w",
            .queue = "q",
            .writes = {{.tensor = "X"}},
            .signals = {{.semaphore = "n", .value = signalled}}});
  b.add_op({.name = "u",
            .queue = "r",
            .reads = {{.tensor = "X"}},
            .waits = {{.kind = WaitKind::kSemaphore, .target = "n", .value = std::int64_t{2}}}});
  return built(std::move(b));
}

TEST(Replay, ConfirmsADeadlockWhenNoStepIsLeft) {
  const Plan plan = deadlocked(1);
  EXPECT_TRUE(replay(plan, claim(plan, Rule::kDeadlock, {"u"}, {"+w", "-w"})).confirmed);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kDeadlock, {"u"}, {"+w"})).confirmed);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kDeadlock, {"w"}, {"+w", "-w"})).confirmed);
  const Plan live = deadlocked(2);
  EXPECT_FALSE(replay(live, claim(live, Rule::kDeadlock, {"u"}, {"+w", "-w"})).confirmed);
}

TEST(Replay, ConfirmsUseAfterFree) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}, {"O", 64}});
  b.add_op({.name = "a", .kind = "alloc", .queue = "q", .storage = "X"});
  b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "X"}}, .signals = {{.event = "e"}}});
  b.add_op({.name = "u",
            .queue = "r",
            .reads = {{.tensor = "X"}},
            .writes = {{.tensor = "O"}},
            .waits = {{.target = "e"}}});
  b.add_op({.name = "f", .kind = "free", .queue = "q", .storage = "X"});
  const Plan plan = built(std::move(b));
  const auto confirmed = [&](std::initializer_list<std::string_view> steps) {
    return replay(plan, claim(plan, Rule::kLifetime, {"u", "f"}, steps)).confirmed;
  };
  EXPECT_TRUE(confirmed({"+a", "-a", "+w", "-w", "+u", "+f"}));
  EXPECT_TRUE(confirmed({"+a", "-a", "+w", "-w", "+f", "+u"}));
  EXPECT_FALSE(confirmed({"+a", "-a", "+w", "-w", "+u", "-u", "+f"}));
}

/// An access to a part of every other byte, before the alloc: its bytes are not the tensor's first.
TEST(Replay, ConfirmsUseOfAPartBeforeItsAlloc) {
  const Plan plan = read_plan(R"({"memverify": 1, "pools": [{"id": "p"}],
    "queues": [{"id": "q"}, {"id": "r"}],
    "storages": [{"id": "s", "pool": "p", "offset": [32], "bytes": 32}],
    "tensors": [{"id": "t", "storage": "s", "dtype": "u8", "shape": [4], "strides": [5]}],
    "ops": [{"id": "a", "kind": "alloc", "queue": "q", "storage": "s"},
            {"id": "w", "queue": "r", "writes": [{"tensor": "t", "offset": 5}]}]})",
                              "p.json")
                        .value();
  SimStats stats;
  const EngineResult result = simulate(plan, {}, stats);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].rule, Rule::kLifetime);
  EXPECT_EQ(result.findings[0].bytes, (ByteRange{37, 38}));
  EXPECT_EQ(replay(plan, result.findings[0]).reason, "");
}

TEST(Replay, TriesTheConditionsThatAFindingLeavesOpen) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}});
  b.add_condition({.name = "c"});
  b.add_condition({.name = "d"});
  b.add_op({.name = "first", .queue = "q", .when = {{.condition = "c", .value = true}}});
  b.add_op({.name = "w",
            .queue = "q",
            .writes = {{.tensor = "X"}},
            .when = {{.condition = "d", .value = true}}});
  b.add_op({.name = "u", .queue = "r", .reads = {{.tensor = "X"}}});
  const Plan plan = built(std::move(b));
  Finding finding = claim(plan, Rule::kRaw, {"w", "u"}, {"+w", "+u"});
  EXPECT_TRUE(replay(plan, finding).confirmed);
  finding.when = {{.condition = ConditionId{0}, .iteration = 0, .value = true}};
  EXPECT_FALSE(replay(plan, finding).confirmed) << "`first` runs before `w` then";
  finding.when = {{.condition = ConditionId{1}, .iteration = 0, .value = false}};
  EXPECT_FALSE(replay(plan, finding).confirmed) << "`w` is dropped then";
}

TEST(Replay, UnrollsAnUnboundedPlanAsFarAsTheRunGoes) {
  PlanBuilder b = start_plan({"load", "math"}, {});
  b.set_unbounded();
  b.add_storage({.name = "ring",
                 .pool = "hbm",
                 .slots = {std::int64_t{0}, std::int64_t{64}},
                 .slots_are_array = true,
                 .bytes = 64});
  b.add_tensor({.name = "tile", .storage = "ring", .bytes = 64});
  b.add_op({.name = "fetch",
            .queue = "load",
            .writes = {{.tensor = "tile"}},
            .after = {{.op = "mma", .distance = 3}}});
  b.add_op(
      {.name = "mma", .queue = "math", .reads = {{.tensor = "tile"}}, .after = {{.op = "fetch"}}});
  const Plan plan = built(std::move(b));
  EXPECT_TRUE(replay(plan, claim(plan, Rule::kWar, {"mma", "fetch@2"},
                                 {"+fetch", "-fetch", "+mma", "+fetch@1", "-fetch@1", "+fetch@2"}))
                  .confirmed);
  EXPECT_FALSE(replay(plan, claim(plan, Rule::kWar, {"mma", "fetch@1"},
                                  {"+fetch", "-fetch", "+mma", "+fetch@1"}))
                   .confirmed)
      << "that is the other slot";
}

TEST(Replay, MakesTheIterationTheLastOneWhereAnOpRunsOnlyThen) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}});
  b.set_unbounded();
  b.add_op({.name = "w", .queue = "q", .runs = "last", .writes = {{.tensor = "X"}}});
  b.add_op({.name = "u", .queue = "r", .reads = {{.tensor = "X"}}});
  const Plan plan = built(std::move(b));
  EXPECT_TRUE(replay(plan, claim(plan, Rule::kRaw, {"w", "u"}, {"+w", "+u"})).confirmed);
}

TEST(Replay, TriesEverySlotThatTheLastIterationMayBeIn) {
  PlanBuilder b = start_plan({"q"}, {});
  b.set_unbounded();
  b.add_storage(
      {.name = "ring", .pool = "hbm", .slots = {0, 64, 128}, .slots_are_array = true, .bytes = 64});
  b.add_tensor({.name = "t", .storage = "ring", .bytes = 64});
  b.add_input("t");
  b.add_donated("t");
  b.add_output({.tensor = "t"});
  b.add_op({.name = "w", .queue = "q", .runs = "first", .writes = {{.tensor = "t"}}});
  const Plan plan = built(std::move(b));
  Finding finding = claim(plan, Rule::kBoundary, {"w"}, {"+w", "-w"});
  finding.tensors = {TensorId{0}};
  finding.storages = {StorageId{0}};
  finding.pool = PoolId{0};
  finding.bytes = {0, 64};
  finding.expected_initial = true;
  EXPECT_TRUE(replay(plan, finding).confirmed) << "the fourth iteration ends in slot 0 again";
}

}  // namespace
}  // namespace memverify
