// Why bytes are held: levels, blockers and causes, on plans whose answer is plain to see.
#include "verify/storage_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "plan/reader.h"
#include "sim/timed.h"
#include "support/random_plan.h"
#include "verify/cases.h"
#include "verify/schedule.h"

namespace memverify {
namespace {

using Kind = HoldCause::Kind;

/// Two queues; `a` of 64 bytes is read whole on q, and its last 16 bytes, through two views, on r.
std::string held_plan(const std::string& reuse) {
  return R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "q"}, {"id": "r"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64},
                 {"id": "t", "pool": "hbm", "offset": 0, "bytes": 64}],
    "tensors": [{"id": "a", "storage": "s", "bytes": 64},
                {"id": "a1", "view_of": "a", "offset": 32, "bytes": 32},
                {"id": "a2", "view_of": "a1", "offset": 16, "bytes": 16},
                {"id": "b", "storage": "t", "bytes": 64}],
    "ops": [{"id": "make", "queue": "q", "writes": ["a"], "signals": [{"event": "made"}]},
            {"id": "use", "queue": "q", "reads": ["a"]},
            {"id": "tail", "queue": "r", "reads": ["a2"], "waits": [{"event": "made"}],
             "duration": [1, 7]},
            {"id": "rec", "kind": "record", "queue": "r", "event": "done"},
            )" +
         reuse + R"(]})";
}

PlanViews views_of(const std::string& text) {
  return PlanViews::make(read_plan(text, "plan.json").value()).value();
}

std::string_view op_name_of(const PlanViews& views, OpId op) { return views.plan().ops[op].name; }

TEST(StorageView, ShowsStorageAliasesAndReadersAndWhoBlocks) {
  const PlanViews views = views_of(
      held_plan(R"({"id": "reuse", "queue": "q", "writes": ["b"], "waits": [{"event": "done"}]})"));
  const StorageView view = views.of(StorageId{0});
  ASSERT_EQ(view.aliases.size(), 3U);
  EXPECT_EQ(view.aliases[2].depth, 2U);
  EXPECT_EQ(view.aliases[2].bytes, (ByteRange{48, 64}));
  ASSERT_EQ(view.uses.size(), 3U);
  ASSERT_TRUE(view.blocker);
  const UseView& last = view.uses[*view.blocker];
  EXPECT_EQ(op_name_of(views, last.op), "tail");
  EXPECT_EQ(last.start, 1);
  EXPECT_EQ(last.complete, 8);
  EXPECT_EQ(view.held_until, 8);
  ASSERT_EQ(last.next.size(), 1U);
  EXPECT_EQ(op_name_of(views, last.next[0].op), "reuse");
  EXPECT_TRUE(last.next[0].waits);
  ASSERT_EQ(last.next[0].through.size(), 1U);
  EXPECT_EQ(op_name_of(views, last.next[0].through[0].op), "rec");
  ASSERT_EQ(view.causes.size(), 3U);
  EXPECT_EQ(view.causes[0].kind, Kind::kViewChain);
  EXPECT_EQ(view.causes[0].amount, 2);
  EXPECT_EQ(view.causes[1].kind, Kind::kOtherQueue);
  EXPECT_EQ(view.causes[1].amount, 6);  // 8, and `use` is done at 2.
  EXPECT_EQ(view.causes[2].kind, Kind::kSmallPiece);
  EXPECT_EQ(view.causes[2].amount, 16);
}

TEST(StorageView, SaysWhoDoesNotWait) {
  const PlanViews views = views_of(held_plan(R"({"id": "reuse", "queue": "q", "writes": ["b"]})"));
  const StorageView view = views.of(StorageId{0});
  const UseView& last = view.uses[*view.blocker];
  ASSERT_EQ(last.next.size(), 1U);
  EXPECT_FALSE(last.next[0].waits);
  EXPECT_EQ(last.next[0].bytes, (ByteRange{48, 64}));
  EXPECT_TRUE(view.uses[1].next[0].waits) << "`use` is on the queue of `reuse`";
}

TEST(StorageView, ShowsWritersThatRaceBehindTheNextOneAndBefore) {
  const PlanViews views = views_of(R"({"memverify": 1, "pools": [{"id": "p"}],
    "queues": [{"id": "a"}, {"id": "b"}],
    "storages": [{"id": "sx", "pool": "p", "offset": 0, "bytes": 64},
                 {"id": "sy", "pool": "p", "offset": 0, "bytes": 64},
                 {"id": "sz", "pool": "p", "offset": 32, "bytes": 64}],
    "tensors": [{"id": "x", "storage": "sx", "bytes": 64}, {"id": "y", "storage": "sy", "bytes": 64},
                {"id": "z", "storage": "sz", "bytes": 64}],
    "ops": [{"id": "make_x", "queue": "a", "writes": ["x"], "signals": [{"event": "e"}]},
            {"id": "use_x", "queue": "a", "reads": ["x"]},
            {"id": "make_y", "queue": "a", "writes": ["y"]},
            {"id": "make_z", "queue": "b", "writes": ["z"], "waits": [{"event": "e"}]}]})");
  const UseView use = views.of(StorageId{0}).uses.at(1);
  ASSERT_EQ(use.next.size(), 2U);
  EXPECT_EQ(op_name_of(views, use.next[0].op), "make_y");
  EXPECT_TRUE(use.next[0].waits);
  EXPECT_EQ(op_name_of(views, use.next[1].op), "make_z");
  EXPECT_FALSE(use.next[1].waits);
  EXPECT_EQ(use.next[1].bytes, (ByteRange{32, 64}));
  const UseView first = views.of(StorageId{0}).uses.at(0);
  ASSERT_EQ(first.next.size(), 1U) << "`make_z` waits for it, and comes after `make_y`";
  const UseView last = views.of(StorageId{2}).uses.at(0);
  ASSERT_EQ(last.next.size(), 1U);
  EXPECT_EQ(op_name_of(views, last.next[0].op), "make_y");
  EXPECT_TRUE(last.next[0].is_earlier);
  EXPECT_FALSE(last.next[0].waits);
}

TEST(StorageView, FindsTheTickAtWhichMostIsHeld) {
  const PlanViews views = views_of(
      held_plan(R"({"id": "reuse", "queue": "q", "writes": ["b"], "waits": [{"event": "done"}]})"));
  const PlanViews::Peak peak = views.peak(PoolId{0});
  EXPECT_EQ(peak.highest, 64);
  EXPECT_EQ(peak.held, 64);
  ASSERT_EQ(peak.storages.size(), 1U);
  EXPECT_EQ(peak.storages[0].storage, StorageId{0});
}

TEST(StorageView, TellsIterationsApart) {
  const PlanViews views = views_of(R"({"memverify": 1, "iterations": 4, "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}, {"id": "r"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": [0, 8], "bytes": 8}],
    "tensors": [{"id": "x", "storage": "s", "bytes": 8}],
    "ops": [{"id": "w", "queue": "q", "writes": ["x"], "after": [{"op": "u", "distance": 2}]},
            {"id": "u", "queue": "r", "reads": ["x"], "after": ["w"]}]})");
  const StorageView view = views.of(StorageId{0}, 1);
  EXPECT_EQ(view.bytes, (ByteRange{8, 16}));
  ASSERT_EQ(view.uses.size(), 2U);
  ASSERT_EQ(view.uses[1].next.size(), 1U);
  EXPECT_EQ(view.uses[1].next[0].iteration, 3);
  EXPECT_TRUE(view.uses[1].next[0].waits);
}

// Where everything is fixed, the one timed run there is ends at the makespan.
TEST(Schedule, AgreesWithTimedRuns) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto plan = testing::plan_of(testing::random_plan(seed));
    if (!plan || !plan->when_terms.empty() || !plan->iterations) continue;
    if (!plan->formulas.all_symbols().empty()) continue;
    const Layout layout = Layout::make(*plan, SymbolCases(*plan).at(0)).value();
    const auto iterations = static_cast<std::uint32_t>(*plan->iterations);
    const Program program =
        make_program(*plan, layout, ConditionCase(*plan, iterations), iterations);
    if (!program.contended.empty()) continue;
    const Walk walked = walk(program);
    if (!walked.all_completed) continue;
    const TimedResult timed = simulate_timed(*plan, {.max_runs = 2'000});
    if (!timed.error.empty() || !timed.all || timed.failing > 0) continue;
    ++compared;
    EXPECT_EQ(schedule(program, walked, true).makespan, timed.greatest_makespan) << seed;
    EXPECT_EQ(schedule(program, walked, false).makespan, timed.least_makespan) << seed;
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace memverify
