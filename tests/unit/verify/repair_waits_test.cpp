// The fewest waits, held against a brute force that asks the simulator; the other ways to safety.
#include "verify/repair_waits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "plan/layout.h"
#include "plan/reader.h"
#include "plan/writer.h"
#include "sim/simulate.h"
#include "support/random_plan.h"
#include "verify/verify.h"

namespace memverify {
namespace {

Verdict executed(const Plan& plan) {
  SimStats stats;
  return simulate(plan,
                  SimOptions{.reduction = Reduction::kClasses, .max_findings = 1, .threads = 1},
                  stats)
      .verdict;
}

/// By clocks, and where they do not decide by execution.
EngineResult decided(const Plan& plan) {
  EngineResult result = verify_happens_before(plan, {});
  if (result.verdict != Verdict::kUnknown) return result;
  SimStats stats;
  return simulate(plan, SimOptions{.reduction = Reduction::kClasses, .threads = 1}, stats);
}

/// All pairs of commands; shares nothing with the search but the meaning of a wait.
std::vector<AddedWait> all_pairs(const Plan& plan) {
  std::vector<AddedWait> pairs;
  const std::uint32_t widest = plan.iterations == 1 ? 0 : 1;
  for (const OpId a : ids(plan.ops)) {
    for (const OpId b : ids(plan.ops)) {
      if (plan.ops[a].kind == OpKind::kView || plan.ops[b].kind == OpKind::kView) continue;
      for (std::uint32_t d = a == b ? 1 : 0; d <= widest; ++d) pairs.push_back({a, b, d});
    }
  }
  return pairs;
}

/// The least size of a set of pairs with which every run of the plan is right; nullopt above
/// `most`.
std::optional<std::size_t> least_by_force(const Plan& plan, std::size_t most) {
  const std::vector<AddedWait> pairs = all_pairs(plan);
  std::vector<std::size_t> chosen;
  const auto try_size = [&](auto&& self, std::size_t from, std::size_t left) -> bool {
    if (left == 0) {
      std::vector<AddedWait> waits;
      for (const std::size_t k : chosen) waits.push_back(pairs[k]);
      return executed(with_waits(plan, waits)) == Verdict::kSafe;
    }
    for (std::size_t k = from; k < pairs.size(); ++k) {
      chosen.push_back(k);
      if (self(self, k + 1, left - 1)) return true;
      chosen.pop_back();
    }
    return false;
  };
  for (std::size_t size = 0; size <= most; ++size) {
    chosen.clear();
    if (try_size(try_size, 0, size)) return size;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, Plan>> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MEMVERIFY_CORPUS)) {
    if (entry.path().string().ends_with(".unsafe.json")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<std::pair<std::string, Plan>> plans;
  for (const auto& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    Result<Plan> plan = read_plan(text.str(), file.string());
    if (!plan.ok() || !plan.value().iterations) continue;
    plans.emplace_back(file.filename().string(), std::move(plan).value());
  }
  return plans;
}

TEST(RepairWaits, OfSmallCorpusPlansAreAsFewAsBruteForceFinds) {
  int mended = 0;
  int not_mended = 0;
  for (const auto& [name, plan] : corpus()) {
    if (plan.ops.size() > 6 || !plan.formulas.all_symbols().empty()) continue;
    if (verify_happens_before(plan, {}).verdict != Verdict::kUnsafe) continue;
    const WaitRepair repair = repair_by_waits(plan, {.decide = decided});
    if (repair.sets.empty()) {
      ++not_mended;
      EXPECT_FALSE(least_by_force(plan, plan.ops.size() <= 4 ? 2 : 1)) << name << repair.why_not;
      EXPECT_FALSE(repair.why_not.empty()) << name;
      continue;
    }
    ++mended;
    EXPECT_TRUE(repair.is_exact) << name;
    const std::size_t size = repair.sets.front().size();
    ASSERT_GT(size, 0U) << name;
    EXPECT_FALSE(least_by_force(plan, size - 1)) << name << ": fewer do";
    for (const auto& set : repair.sets) {
      EXPECT_EQ(set.size(), size) << name;
      EXPECT_EQ(executed(with_waits(plan, set)), Verdict::kSafe) << name;
    }
  }
  EXPECT_GT(mended, 10);
  EXPECT_GT(not_mended, 10);
}

/// Whatever each way offers for `plan`, counted by kind.
void expect_offers_are_safe(const std::string& what, const Plan& plan, std::size_t (&kinds)[4]) {
  if (verify_happens_before(plan, {}).verdict != Verdict::kUnsafe) return;
  const RepairOptions options{.max_candidates = 40, .max_verifications = 300, .max_offers = 1};
  for (const auto way :
       {repair_by_waiting, repair_by_moving, repair_by_reordering, repair_by_copying}) {
    const RepairSearch search = way(plan, options);
    EXPECT_EQ(search.found.empty(), !search.why_not.empty()) << what << search.why_not;
    for (const Repair& repair : search.found) {
      ++kinds[static_cast<std::size_t>(repair.kind)];
      const Result<Plan> again = read_plan(write_plan(repair.plan), "again.json");
      ASSERT_TRUE(again.ok()) << what << write_plan(repair.plan);
      EXPECT_EQ(verify_happens_before(again.value(), {}).verdict, Verdict::kSafe) << what;
      EXPECT_NE(executed(again.value()), Verdict::kUnsafe) << what << write_plan(repair.plan);
    }
  }
}

TEST(Repair, WhateverIsOfferedIsSafeByClocksAndByExecution) {
  std::size_t kinds[4] = {};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto plan = testing::plan_of(testing::random_mutated_plan(seed));
    if (plan) expect_offers_are_safe(std::to_string(seed), *plan, kinds);
  }
  for (const auto& [name, plan] : corpus()) {
    if (plan.ops.size() <= 6) expect_offers_are_safe(name, plan, kinds);
  }
  for (const Repair::Kind kind :
       {Repair::Kind::kWait, Repair::Kind::kMove, Repair::Kind::kOrder, Repair::Kind::kCopy}) {
    EXPECT_GT(kinds[static_cast<std::size_t>(kind)], 4U) << name(kind);
  }
}

Plan corpus_plan(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(MEMVERIFY_CORPUS) + "/bugs/" + name).rdbuf();
  return read_plan(text.str(), name).value();
}

TEST(Repair, SubmitsAReaderBeforeWhatOverwritesIt) {
  const Plan plan = corpus_plan("b02-view-chain-hides-reader.unsafe.json");
  const RepairSearch search = repair_by_reordering(plan, {});
  ASSERT_FALSE(search.found.empty()) << search.why_not;
  EXPECT_EQ(search.found.front().changes.front(), "submit `softmax` before `load_bias`");
  EXPECT_EQ(executed(search.found.front().plan), Verdict::kSafe);
  EXPECT_FALSE(may_move_to(plan, OpId{4}, 0)) << "across who writes what it reads";
  EXPECT_TRUE(repair_by_waiting(plan, {}).found.empty()) << "on one queue no wait helps";
}

TEST(Repair, OffersTheDistanceThatAFindingNeedsHoweverLarge) {
  const std::string head = R"({"memverify": 1, "iterations": 12, "pools": [{"id": "p"}],
    "queues": [{"id": "t"}, {"id": "v"}], "semaphores": [{"id": "prod", "kind": "timeline"}],
    "storages": [{"id": "bank", "pool": "p", "bytes": 64,
                  "offset": [0, 64, 128, 192, 256, 320, 384, 448]}],
    "tensors": [{"id": "x", "storage": "bank", "bytes": 64}], "ops": [)";
  const Plan deep = read_plan(head + R"j(
    {"id": "matmul", "queue": "t", "writes": ["x"],
     "signals": [{"semaphore": "prod", "value": "iteration+1"}]},
    {"id": "evac", "queue": "v", "reads": ["x"],
     "waits": [{"semaphore": "prod", "value": "min(iteration+6,12)"}]}]})j",
                              "deep.json")
                        .value();
  const WaitRepair far = repair_by_waits(deep);
  ASSERT_FALSE(far.sets.empty()) << far.why_not;
  EXPECT_EQ(far.sets.front(), (std::vector<AddedWait>{{OpId{0}, OpId{1}, 8}}));
  EXPECT_TRUE(far.is_exact);
  const RepairSearch banks =
      repair_by_waiting(corpus_plan("f04-eight-banks.unsafe.json"), {.max_offers = 1});
  ASSERT_FALSE(banks.found.empty());
  EXPECT_EQ(banks.found.front().changes.front(),
            "`matmul` waits for `evacuate` of 8 iterations before");
  const Plan lost = read_plan(head + R"(
    {"id": "w", "queue": "t", "writes": ["x"]}, {"id": "r", "queue": "t", "reads": ["x"],
     "writes": []}, {"id": "o", "queue": "t", "reads": [{"tensor": "x", "distance": 9}]}]})",
                              "lost.json")
                        .value();
  const WaitRepair none = repair_by_waits(lost);
  EXPECT_TRUE(none.sets.empty());
  EXPECT_FALSE(none.is_exact) << "distances were left out";
  EXPECT_EQ(none.why_not.rfind("none of the waits that were tried", 0), 0U) << none.why_not;
}

TEST(Repair, SubmitsAFreeAfterTheLastUse) {
  const Plan plan = corpus_plan("b60-workspace-keyed-by-stream.unsafe.json");
  const RepairSearch search = repair_by_reordering(plan, {});
  ASSERT_EQ(search.found.size(), 1U) << search.why_not;
  EXPECT_EQ(search.found.front().changes.front(),
            "submit `graph1_gemm_replay` before `destroy_graph2`");
  const OpId alloc{0};
  const OpId free{3};
  ASSERT_EQ(plan.ops[free].kind, OpKind::kFree);
  EXPECT_TRUE(may_move_to(plan, free, static_cast<std::uint32_t>(plan.ops.size())));
  EXPECT_FALSE(may_move_to(plan, free, index(alloc))) << "across the alloc";
}

TEST(Repair, MovesTheFewestStoragesAsLowAsTheyGo) {
  const Plan plan = corpus_plan("b02-view-chain-hides-reader.unsafe.json");
  const RepairSearch search = repair_by_moving(plan, {});
  ASSERT_EQ(search.found.size(), 2U);
  EXPECT_TRUE(search.is_exact);
  EXPECT_EQ(search.found[0].changes,
            std::vector<std::string>{"storage `bias_buf` at offset 4096 of pool `hbm`"});
  EXPECT_EQ(highest_ends(search.found[0].plan), highest_ends(plan));
}

}  // namespace
}  // namespace memverify
