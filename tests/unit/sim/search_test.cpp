// What holds of every search: the same on any number of cores, minimal runs, less work for less.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/replay.h"
#include "sim/simulate.h"
#include "tests/unit/sim/plans.h"

namespace memverify {
namespace {

using sim_test::built;
using sim_test::random_plan;

/// `queues` serial queues of `ops` ops, each of which writes a tensor of its own. Op `ops / 2` of a
/// queue reads what the first op of the queue before wrote, and waits for it if `is_safe`.
Plan crossing(int queues, int ops, bool is_safe) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  for (int q = 0; q < queues; ++q) b.add_queue({.name = "q" + std::to_string(q)});
  for (int n = 0; n < ops; ++n) {
    for (int q = 0; q < queues; ++q) {
      const std::string name = "o" + std::to_string(q) + "_" + std::to_string(n);
      const std::string queue = "q" + std::to_string(q);
      const std::string first = "o" + std::to_string(q - 1) + "_0";
      b.add_storage({.name = name,
                     .pool = "hbm",
                     .slots = {std::int64_t{64} * (n * queues + q)},
                     .bytes = std::int64_t{64}});
      b.add_tensor({.name = name, .storage = name, .bytes = std::int64_t{64}});
      OpSpec op{
          .name = name, .queue = queue, .writes = {{.tensor = name}}, .signals = {{.event = name}}};
      if (q > 0 && n == ops / 2) {
        op.reads = {{.tensor = first}};
        if (is_safe || q > 1) op.waits = {{.target = first}};
      }
      b.add_op(op);
    }
  }
  return built(std::move(b));
}

std::string text_of(const Plan& plan, const EngineResult& result) {
  std::string text(name(result.verdict));
  for (const Finding& finding : result.findings) {
    text += "\n" + std::string(info(finding.rule).id);
    for (const Step& step : finding.witness) {
      text += (step.complete ? " complete " : " start ") + std::string(plan.ops[step.op].name);
    }
  }
  return text;
}

void expect_same_on_any_cores(const Plan& plan, SimOptions options) {
  SimStats alone;
  options.threads = 1;
  const std::string expected = text_of(plan, simulate(plan, options, alone));
  for (std::size_t threads : {2U, 3U}) {
    SimStats together;
    options.threads = threads;
    EXPECT_EQ(text_of(plan, simulate(plan, options, together)), expected);
    EXPECT_EQ(together.states, alone.states);
    EXPECT_EQ(together.transitions, alone.transitions);
    EXPECT_EQ(together.stopped, alone.stopped);
  }
}

TEST(Cores, ChangeNothingInABitMap) { expect_same_on_any_cores(crossing(5, 6, false), {}); }

TEST(Cores, ChangeNothingInLayers) {
  expect_same_on_any_cores(crossing(5, 5, false), {.always_track_values = true});
}

TEST(Cores, StopAtTheVeryState) {
  for (std::size_t threads : {1U, 2U, 3U}) {
    for (bool in_layers : {false, true}) {
      SimOptions options{.max_states = 50'001, .threads = threads};
      options.always_track_values = in_layers;
      SimStats stats;
      EXPECT_EQ(simulate(crossing(5, 6, true), options, stats).verdict, Verdict::kUnknown);
      EXPECT_EQ(stats.states, 50'001U);
      EXPECT_EQ(stats.stopped, "states");
    }
  }
}

TEST(Reductions, LeaveOutMostOfARaceFreePlan) {
  const Plan plan = crossing(4, 5, true);
  SimStats none;
  simulate(plan, {}, none);
  SimStats sleep;
  simulate(plan, {.reduction = Reduction::kSleep}, sleep);
  SimStats classes;
  EXPECT_EQ(simulate(plan, {.reduction = Reduction::kClasses}, classes).verdict, Verdict::kSafe);
  EXPECT_LT(2 * sleep.transitions, none.transitions);
  EXPECT_LE(classes.transitions, sleep.transitions);
  EXPECT_EQ(classes.runs, 1U);
  EXPECT_EQ(classes.transitions, 2U * 4 * 5) << "one run, and nothing that ended early";
}

TEST(Count, FindsTheOneInterleavingInMillions) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  b.add_semaphore({.name = "token", .initial = std::int64_t{1}});
  b.add_semaphore({.name = "go"});
  const auto take = [](std::string_view name) {
    return WaitSpec{
        .kind = WaitKind::kSemaphore, .target = name, .value = std::int64_t{1}, .consume = true};
  };
  const auto add = [&](const std::string& name, const std::string& queue, WaitSpec wait,
                       std::vector<SignalSpec> signals) {
    b.add_storage(
        {.name = name, .pool = "hbm", .slots = {std::int64_t{64} * name[1]}, .bytes = 64});
    b.add_tensor({.name = name, .storage = name, .bytes = 64});
    b.add_op({.name = name,
              .queue = queue,
              .writes = {{.tensor = name}},
              .waits = {wait},
              .signals = std::move(signals)});
  };
  for (const char* queue : {"q", "r", "u", "v", "w"}) b.add_queue({.name = queue});
  add("oa", "q", take("token"),
      {{.semaphore = "go", .value = std::int64_t{6}}, {.semaphore = "token"}});
  add("ob", "r", take("token"), {});  // Keeps it: taken first, nobody else ever runs.
  for (const char* queue : {"u", "v", "w"}) {
    add(std::string("o") + queue, queue, take("go"), {});
    add(std::string("p") + static_cast<char>(*queue + 8), queue, take("go"), {});
  }
  SimStats stats;
  const EngineResult result = simulate(built(std::move(b)), {.count = true}, stats);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].rule, Rule::kDeadlock);
  EXPECT_EQ(stats.interleavings, "3153151");  // 14! / (2! 4! 4! 4!) after `oa`, and the one.
  EXPECT_EQ(stats.failing, "1");
}

TEST(Witness, HasNoStepThatCanGo) {
  int looked_at = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Plan plan = random_plan(seed);
    for (Reduction reduction : {Reduction::kNone, Reduction::kSleep, Reduction::kClasses}) {
      SimStats stats;
      for (Finding finding : simulate(plan, {.reduction = reduction}, stats).findings) {
        const std::vector<Step> run = finding.witness;
        for (std::size_t i = 0; i < run.size(); ++i) {
          finding.witness = run;
          finding.witness.erase(finding.witness.begin() + static_cast<std::ptrdiff_t>(i));
          EXPECT_FALSE(replay(plan, finding).confirmed)
              << "seed " << seed << ", " << info(finding.rule).id << ", step " << i + 1;
          ++looked_at;
        }
      }
    }
  }
  EXPECT_GT(looked_at, 1000);
}

TEST(Limits, EndAPlanOfTooManyIterationsBeforeItIsUnrolled) {
  PlanBuilder b = sim_test::start_plan({"q"}, {{"X", 0}});
  b.set_iterations(std::int64_t{1'000'000'000});
  b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "X"}}});
  SimStats stats;
  EXPECT_EQ(simulate(built(std::move(b)), {}, stats).verdict, Verdict::kUnknown);
  EXPECT_FALSE(stats.complete);
}

TEST(Random, ShowsWrongVersionsWithTheRunThatMetThem) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Plan plan = random_plan(seed);
    SimStats stats;
    const EngineResult result = simulate(plan, {.random_runs = 20, .seed = seed}, stats);
    EXPECT_EQ(stats.runs, 20U);
    EXPECT_NE(result.verdict, Verdict::kSafe);
    for (const Finding& finding : result.findings) {
      if (finding.witness.empty()) continue;
      EXPECT_TRUE(replay(plan, finding).confirmed) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace memverify
