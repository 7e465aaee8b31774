// A search in parts finds what the whole one does, and nothing is taken for complete that is not.
#include "sim/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/replay.h"
#include "tests/unit/sim/plans.h"

namespace memverify {
namespace {

using sim_test::random_plan;

struct Parts {
  std::vector<SimPart> parts;
  std::vector<std::uint64_t> states;
};

Parts searched_in(const Plan& plan, const SimOptions& options, std::uint64_t of) {
  Parts all;
  for (std::uint64_t number = of; number > 0; --number) {
    SimStats stats;
    all.parts.emplace_back();
    const EngineResult result = simulate_part(plan, options, {number, of}, all.parts.back(), stats);
    EXPECT_NE(result.verdict, Verdict::kSafe);
    all.states.push_back(stats.states);
  }
  return all;
}

std::vector<std::string> faults_of(const Plan& plan, const EngineResult& result) {
  std::vector<std::string> faults = {std::string(name(result.verdict))};
  for (const Finding& finding : result.findings) {
    std::string text(info(finding.rule).id);
    for (OpId op : finding.ops) text += " " + std::string(plan.ops[op].name);
    faults.push_back(text + " " + finding.message);
    EXPECT_TRUE(finding.witness.empty() || replay(plan, finding).confirmed) << text;
  }
  return faults;
}

std::string error_of(const Plan& plan, const std::vector<SimPart>& parts) {
  SimStats stats;
  const auto joined = join_parts(plan, {.part_states = 1}, parts, stats);
  return joined.ok() ? "" : joined.errors().front().id;
}

TEST(Parts, JoinedTheyFindWhatOneSearchFinds) {
  int cut = 0;
  int in_tiles = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Plan plan = random_plan(seed, 7);
    for (const Reduction reduction : {Reduction::kNone, Reduction::kSleep}) {
      const SimOptions options = {.reduction = reduction, .part_states = 1 + seed % 2};
      SimStats whole;
      SimStats joined;
      const EngineResult expected = simulate(plan, options, whole);
      Parts all = searched_in(plan, options, 2 + seed % 4);
      const auto found = join_parts(plan, options, all.parts, joined);
      ASSERT_TRUE(found.ok()) << seed << ": " << found.errors().front().message;
      EXPECT_EQ(faults_of(plan, found.value()), faults_of(plan, expected)) << seed;
      EXPECT_TRUE(joined.complete);
      EXPECT_TRUE(reduction != Reduction::kNone || joined.states >= whole.states) << seed;
      const SimPartCase& first = all.parts.front().cases.front();
      if (first.common_states == 0) {
        ++in_tiles;
        EXPECT_EQ(joined.states, whole.states) << seed;
        EXPECT_EQ(joined.transitions, whole.transitions) << seed;
      } else if (first.common_states < first.states) {
        ++cut;
      }
    }
  }
  EXPECT_GT(cut, 50);
  EXPECT_GT(in_tiles, 20);
}

TEST(Parts, OneThatIsMissingTwiceThereOrOfAnotherPlanIsRefused) {
  const Plan plan = random_plan(3);
  const SimOptions options = {.part_states = 1};
  const std::vector<SimPart> parts = searched_in(plan, options, 3).parts;
  EXPECT_EQ(error_of(plan, parts), "");
  EXPECT_EQ(error_of(plan, {}), "parts.none");
  EXPECT_EQ(error_of(plan, {parts[0], parts[2]}), "parts.gap");
  EXPECT_EQ(error_of(plan, {parts[0], parts[1], parts[0]}), "parts.overlap");
  const SimPart other = searched_in(plan, options, 2).parts.front();
  EXPECT_EQ(error_of(plan, {parts[0], parts[1], other}), "parts.mixed");

  std::vector<SimPart> damaged = parts;
  damaged[1].cases.pop_back();
  EXPECT_EQ(error_of(plan, damaged), "parts.gap");
  damaged = parts;
  ++damaged[2].cases.front().common_states;
  ++damaged[2].cases.front().states;
  EXPECT_EQ(error_of(plan, damaged), "parts.damaged");
  for (const auto& [what, step] : {std::pair(1U << 20U, 0U), std::pair(0U, 1U << 20U)}) {
    damaged = parts;
    damaged[0].cases.front().hits = {
        {.what = what, .step = step, .state = std::vector<std::uint16_t>(2, 0)}};
    EXPECT_EQ(error_of(plan, damaged), "parts.damaged");
  }
  damaged = parts;
  damaged[0].cases.front().deadlocks = {{.what = 0, .state = {9999, 9999}}};
  EXPECT_EQ(error_of(plan, damaged), "parts.damaged");
  damaged[0].cases.front().deadlocks.clear();
  damaged[0].cases.front().wrong = {{.what = 9999}};
  EXPECT_EQ(error_of(plan, damaged), "parts.damaged");
}

TEST(Parts, OneThatEndedEarlyProvesNothing) {
  PlanBuilder b = sim_test::start_plan({"p", "q", "r"}, {{"t", 0}});
  for (const char* queue : {"p", "q", "r"}) {
    for (const char* number : {"1", "2", "3"}) {
      b.add_op({.name = std::string(queue) + number, .queue = queue});
    }
  }
  const Plan plan = sim_test::built(std::move(b));
  SimOptions options = {.part_states = 1};
  std::vector<SimPart> parts = searched_in(plan, options, 2).parts;
  options.max_states = 50;
  SimStats stats;
  simulate_part(plan, options, {1, 2}, parts[1], stats);
  ASSERT_EQ(parts[1].cases.back().stopped, "states");
  options.max_states = 1'000'000;
  const auto joined = join_parts(plan, options, parts, stats);
  ASSERT_TRUE(joined.ok());
  EXPECT_NE(joined.value().verdict, Verdict::kSafe);
  EXPECT_FALSE(stats.complete);
}

TEST(Parts, ManyCasesAreDealtWhole) {
  PlanBuilder b = sim_test::start_plan({"q"}, {{"t", 0}});
  for (const char* condition : {"a", "b", "c", "d"}) b.add_condition({.name = condition});
  b.add_op({.name = "w", .queue = "q", .writes = {{.tensor = "t"}}});
  for (const char* condition : {"a", "b", "c", "d"}) {
    b.add_op({.name = std::string("r") + condition,
              .queue = "q",
              .reads = {{.tensor = "t"}},
              .when = {{.condition = condition}}});
  }
  const Plan plan = sim_test::built(std::move(b));
  const std::vector<SimPart> parts = searched_in(plan, {}, 3).parts;
  std::vector<std::uint64_t> numbers;
  for (const SimPart& part : parts) {
    for (const SimPartCase& one : part.cases) numbers.push_back(one.number);
  }
  EXPECT_EQ(parts[2].cases.size(), 6U);
  std::ranges::sort(numbers);
  ASSERT_EQ(numbers.size(), 16U);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
  SimStats whole;
  SimStats joined;
  const EngineResult expected = simulate(plan, {}, whole);
  const auto found = join_parts(plan, {}, parts, joined);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(faults_of(plan, found.value()), faults_of(plan, expected));
  EXPECT_EQ(joined.states, whole.states);
}

}  // namespace
}  // namespace memverify
