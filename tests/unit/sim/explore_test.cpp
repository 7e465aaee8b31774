#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sim/search.h"
#include "sim/simulate.h"
#include "sim/state.h"
#include "tests/unit/sim/plans.h"

namespace memverify {
namespace {

using sim_test::built;
using sim_test::random_plan;
using sim_test::start_plan;

/// `queues` serial queues of `ops` ops each that have nothing to do with each other.
Plan independent(int queues, int ops) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  for (int q = 0; q < queues; ++q) {
    const std::string queue = "q" + std::to_string(q);
    b.add_queue({.name = queue});
    b.add_storage({.name = queue, .pool = "hbm", .slots = {std::int64_t{64} * q}, .bytes = 64});
    b.add_tensor({.name = queue, .storage = queue, .bytes = 64});
    for (int n = 0; n < ops; ++n) {
      const std::string op = queue + "_" + std::to_string(n);
      b.add_op({.name = op, .queue = queue, .writes = {{.tensor = queue}}});
    }
  }
  return built(std::move(b));
}

SimStats stats_of(const Plan& plan, Verdict expected) {
  SimStats stats;
  const EngineResult result = simulate(plan, {}, stats);
  EXPECT_EQ(result.verdict, expected);
  return stats;
}

TEST(Explore, VisitsEveryStateOfIndependentQueuesOnce) {
  // (2 n + 1)^q states; from each, a step on every queue that is not at its end.
  const SimStats small = stats_of(independent(3, 4), Verdict::kSafe);
  EXPECT_EQ(small.states, 729U);
  EXPECT_EQ(small.transitions, 3U * 8 * 81);
  EXPECT_TRUE(small.complete);
  EXPECT_EQ(stats_of(independent(4, 5), Verdict::kSafe).states, 14641U);
}

TEST(Explore, CountsTheInstantsOfSyncCommandsToo) {
  PlanBuilder b = start_plan({"q"}, {{"X", 0}});
  b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "X"}}});
  b.add_op({.name = "r", .kind = "record", .queue = "q", .event = "e"});
  b.add_op({.name = "h", .kind = "host_wait", .wait_for = WaitSpec{.target = "e"}});
  EXPECT_EQ(stats_of(built(std::move(b)), Verdict::kSafe).states, 7U);
}

TEST(Explore, AnIssueQueueCompletesInAnyOrder) {
  PlanBuilder b;
  b.add_pool({.name = "hbm"});
  b.add_queue({.name = "q", .order = "issue"});
  for (std::string_view name : {"a", "b"}) {
    b.add_storage(
        {.name = name, .pool = "hbm", .slots = {std::int64_t{name[0]} * 64}, .bytes = 64});
    b.add_tensor({.name = name, .storage = name, .bytes = 64});
    b.add_op({.name = name, .queue = "q", .writes = {{.tensor = name}}});
  }
  // Nothing; a open; a done; and, with a open or done: b open, b done.
  EXPECT_EQ(stats_of(built(std::move(b)), Verdict::kSafe).states, 7U);
}

TEST(Explore, ConsumingStartsDisableEachOther) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}, {"Y", 64}});
  b.add_semaphore({.name = "lock", .initial = std::int64_t{1}});
  const WaitSpec take{
      .kind = WaitKind::kSemaphore, .target = "lock", .value = std::int64_t{1}, .consume = true};
  const SignalSpec give{.semaphore = "lock"};
  b.add_op(
      {.name = "a", .queue = "q", .writes = {{.tensor = "X"}}, .waits = {take}, .signals = {give}});
  b.add_op(
      {.name = "b", .queue = "r", .writes = {{.tensor = "X"}}, .waits = {take}, .signals = {give}});
  // All of 3 x 3 but the one where both are open.
  EXPECT_EQ(stats_of(built(std::move(b)), Verdict::kSafe).states, 8U);
}

TEST(Explore, CreditsThatOneQueueTakesLeaveOneClassOfRuns) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}, {"Y", 64}});
  b.add_semaphore({.name = "free", .initial = std::int64_t{2}});
  b.add_semaphore({.name = "full"});
  const auto take = [](const char* name) {
    return WaitSpec{
        .kind = WaitKind::kSemaphore, .target = name, .value = std::int64_t{1}, .consume = true};
  };
  for (int i = 0; i < 6; ++i) {
    const char* slot = i % 2 == 0 ? "X" : "Y";
    const std::string n = std::to_string(i);
    b.add_op({.name = "make" + n,
              .queue = "q",
              .writes = {{.tensor = slot}},
              .waits = {take("free")},
              .signals = {{.semaphore = "full"}}});
    b.add_op({.name = "use" + n,
              .queue = "r",
              .reads = {{.tensor = slot}},
              .waits = {take("full")},
              .signals = {{.semaphore = "free"}}});
  }
  const Plan plan = built(std::move(b));
  SimStats stats;
  EXPECT_EQ(simulate(plan, {.reduction = Reduction::kClasses}, stats).verdict, Verdict::kSafe);
  EXPECT_EQ(stats.runs, 1U);
  SimStats all;
  EXPECT_EQ(simulate(plan, {}, all).verdict, Verdict::kSafe);
  EXPECT_LT(stats.transitions, all.transitions);
}

TEST(Explore, FindsAWrongValueThatOnlyOneOrderOfALockShows) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}, {"O", 64}});
  b.add_semaphore({.name = "lock", .initial = std::int64_t{1}});
  const WaitSpec take{
      .kind = WaitKind::kSemaphore, .target = "lock", .value = std::int64_t{1}, .consume = true};
  const SignalSpec give{.semaphore = "lock"};
  b.add_op(
      {.name = "a", .queue = "q", .writes = {{.tensor = "X"}}, .waits = {take}, .signals = {give}});
  b.add_op(
      {.name = "b", .queue = "r", .writes = {{.tensor = "X"}}, .waits = {take}, .signals = {give}});
  b.add_op({.name = "u",
            .queue = "q",
            .reads = {{.tensor = "X"}},
            .writes = {{.tensor = "O"}},
            .after = {{.op = "b"}}});
  const Plan plan = built(std::move(b));
  SimStats stats;
  const EngineResult result = simulate(plan, {}, stats);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].rule, Rule::kWrongVersion);
  EXPECT_EQ(result.findings[0].ops, (std::vector<OpId>{OpId{0}, OpId{2}}));
}

TEST(Explore, EndsWithUnknownAtEachLimit) {
  const Plan plan = independent(4, 5);
  SimStats stats;
  SimOptions few_states;
  few_states.max_states = 100;
  EXPECT_EQ(simulate(plan, few_states, stats).verdict, Verdict::kUnknown);
  EXPECT_EQ(stats.states, 100U);
  EXPECT_EQ(stats.stopped, "states");
  EXPECT_FALSE(stats.complete);

  SimOptions little_memory;
  little_memory.max_bytes = 1000;
  EXPECT_EQ(simulate(plan, little_memory, stats).verdict, Verdict::kUnknown);
  EXPECT_EQ(stats.stopped, "memory");
}

TEST(Explore, ReportsWhatItFoundBeforeALimit) {
  PlanBuilder b = start_plan({"q", "r"}, {{"X", 0}});
  for (int n = 0; n < 50; ++n) {
    const std::string name = "q" + std::to_string(n);
    b.add_op({.name = name, .queue = "q", .writes = {{.tensor = "X"}}});
  }
  b.add_op({.name = "w", .queue = "r", .writes = {{.tensor = "X"}}});
  const Plan plan = built(std::move(b));
  SimStats stats;
  SimOptions options;
  options.max_states = 20;
  const EngineResult result = simulate(plan, options, stats);
  EXPECT_EQ(result.verdict, Verdict::kUnsafe);
  EXPECT_FALSE(stats.complete);
}

TEST(Explore, LeavesSymbolsWithoutABoundUnproven) {
  PlanBuilder b;
  b.add_symbol({.name = "n"});
  b.add_pool({.name = "hbm"});
  b.add_queue({.name = "q"});
  b.add_storage({.name = "s", .pool = "hbm", .slots = {std::int64_t{0}}, .bytes = "64 * n"});
  b.add_tensor({.name = "t", .storage = "s", .bytes = "64 * n"});
  b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "t"}}});
  SimStats stats;
  const EngineResult result = simulate(built(std::move(b)), {}, stats);
  EXPECT_EQ(result.verdict, Verdict::kUnknown);
  EXPECT_FALSE(stats.complete);
}

/// Walks the model and the plain state side by side.
class SideBySide {
 public:
  explicit SideBySide(const Plan& plan)
      : layout_(Layout::make(plan, {}).value()),
        program_(sim::make_program(plan, {.symbols = {}, .conditions = {plan, 1}}).value()),
        setting_{plan, layout_, program_},
        map_(sim::map_bytes(setting_, std::nullopt, 1'000'000).value()),
        lifetimes_(sim::find_lifetimes(setting_, map_)),
        reads_(sim::collect_reads(setting_, map_)),
        material_{setting_, map_, lifetimes_, reads_},
        model_(sim::make_model(material_, 1'000'000).value()) {}

  /// False if they ever disagree on what is possible.
  bool agree(std::mt19937_64& random) {
    sim::Execution execution(program_);
    sim::State state(model_.chains(), 0);
    while (true) {
      std::vector<sim::StepId> possible;
      for (sim::StepId step = 0; step < model_.steps(); ++step) {
        const sim::CommandId c = model_.command_of_step[step];
        const bool plain = model_.is_start(step) ? execution.can_start(c) : execution.can_finish(c);
        const sim::ChainId chain = model_.chain_of_step[step];
        const bool here = state[chain] == model_.digit_of_step(step);
        if ((here && sim::is_enabled(model_, state, step)) != plain) return false;
        if (plain) possible.push_back(step);
      }
      for (SemaphoreId s : ids<SemaphoreId>(program_.initial.size())) {
        if (sim::count_of(model_, state, index(s)) != execution.semaphore(s)) return false;
      }
      if (possible.empty()) return true;
      const sim::StepId step = possible[random() % possible.size()];
      const sim::CommandId c = model_.command_of_step[step];
      if (model_.is_start(step)) {
        execution.start(c);
      } else {
        execution.finish(c);
      }
      ++state[model_.chain_of_step[step]];
    }
  }

  const sim::Model& model() const { return model_; }
  const sim::Material& material() const { return material_; }

 private:
  Layout layout_;
  sim::Program program_;
  sim::Setting setting_;
  sim::ByteMap map_;
  sim::Lifetimes lifetimes_;
  sim::Reads reads_;
  sim::Material material_;
  sim::Model model_;
};

TEST(Model, AllowsExactlyTheStepsThatThePlainStateAllows) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Plan plan = random_plan(seed);
    SideBySide both(plan);
    std::mt19937_64 random(seed);
    for (int run = 0; run < 5; ++run) ASSERT_TRUE(both.agree(random)) << "seed " << seed;
  }
}

TEST(Explore, GridAndLayersSeeTheSame) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Plan plan = random_plan(seed);
    const SideBySide both(plan);
    sim::Budget budget{.states = 10'000'000, .bytes = std::uint64_t{1} << 30, .deadline = {}};
    ASSERT_TRUE(sim::fits_grid(both.model(), budget.bytes));
    const sim::Search grid = sim::explore_grid(both.model(), budget);
    const sim::Search layers = sim::explore_layers(both.model(), {}, both.material(), budget);
    EXPECT_EQ(grid.states, layers.states) << "seed " << seed;
    EXPECT_EQ(grid.transitions, layers.transitions) << "seed " << seed;
    EXPECT_EQ(grid.hits.size(), layers.hits.size()) << "seed " << seed;
    EXPECT_EQ(grid.deadlocks.size(), layers.deadlocks.size()) << "seed " << seed;
    EXPECT_EQ(grid.reaches_end, layers.reaches_end) << "seed " << seed;
  }
}

std::string rules_and_ops(const EngineResult& result) {
  std::string text(name(result.verdict));
  for (const Finding& finding : result.findings) {
    text += "\n" + std::string(info(finding.rule).id);
    for (OpId id : finding.ops) text += " " + std::to_string(index(id));
    for (TensorId id : finding.tensors) text += " t" + std::to_string(index(id));
  }
  return text;
}

TEST(Explore, ValuesInTheStateChangeNoFindingOfRandomPlans) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Plan plan = random_plan(seed);
    SimStats stats;
    const EngineResult plain = simulate(plan, {}, stats);
    SimOptions tracking;
    tracking.always_track_values = true;
    const EngineResult tracked = simulate(plan, tracking, stats);
    EXPECT_EQ(rules_and_ops(plain), rules_and_ops(tracked)) << "seed " << seed;
  }
}

TEST(Explore, ReductionsLeaveOutOnlyWork) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Plan plan = random_plan(seed);
    SimStats none;
    const EngineResult all = simulate(plan, {}, none);
    SimStats sleep;
    EXPECT_EQ(rules_and_ops(all),
              rules_and_ops(simulate(plan, {.reduction = Reduction::kSleep}, sleep)))
        << "seed " << seed;
    EXPECT_LE(sleep.transitions, none.transitions) << "seed " << seed;
    SimStats classes;
    EXPECT_EQ(rules_and_ops(all),
              rules_and_ops(simulate(plan, {.reduction = Reduction::kClasses}, classes)))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace memverify
