// What the audit says of each sync, checked by taking it out and asking two engines.
#include "verify/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "plan/writer.h"
#include "sim/simulate.h"
#include "verify/verify.h"

namespace memverify {
namespace {

using Use = AuditedSync::Use;

Verdict by_clocks(const Plan& plan) { return verify_happens_before(plan, {}).verdict; }

/// kUnknown where the search is too large.
Verdict by_execution(const Plan& plan) {
  SimStats stats;
  return simulate(plan, SimOptions{.reduction = Reduction::kClasses}, stats).verdict;
}

Plan plan_of(const std::string& text) {
  Result<Plan> plan = read_plan(text, "plan.json");
  EXPECT_TRUE(plan.ok());
  return std::move(plan).value();
}

std::vector<Plan> safe_corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MEMVERIFY_CORPUS)) {
    if (entry.path().string().ends_with(".safe.json")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Plan> plans;
  for (const auto& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    Result<Plan> plan = read_plan(text.str(), file.string());
    if (!plan.ok() || plan.value().ops.size() > 40) continue;
    if (by_clocks(plan.value()) == Verdict::kSafe) plans.push_back(std::move(plan).value());
  }
  return plans;
}

std::vector<Sync> those_that_can_go(const Audit& audit) {
  std::vector<Sync> gone;
  for (const AuditedSync& sync : audit.syncs) {
    if (sync.can_go) gone.push_back(sync.sync);
  }
  return gone;
}

TEST(Audit, OfTheCorpusHoldsWhenTheSyncsAreTakenOut) {
  std::size_t needed = 0;
  std::size_t redundant = 0;
  for (const Plan& plan : safe_corpus()) {
    const Audit result = audit(plan, {});
    ASSERT_EQ(result.verdict, Verdict::kSafe) << plan.name;
    ASSERT_TRUE(result.complete);
    for (const AuditedSync& sync : result.syncs) {
      const Plan reduced = without(plan, std::span(&sync.sync, 1));
      const std::string what = std::string(plan.name) + ": " + describe(plan, sync.sync);
      const Verdict executed = by_execution(reduced);
      if (sync.use == Use::kNeeded) {
        ++needed;
        EXPECT_EQ(by_clocks(reduced), Verdict::kUnsafe) << what;
        EXPECT_NE(executed, Verdict::kSafe) << what;
        EXPECT_FALSE(sync.lost.empty()) << what;
        EXPECT_FALSE(sync.can_go) << what;
      } else if (sync.use == Use::kRedundant) {
        ++redundant;
        EXPECT_EQ(by_clocks(reduced), Verdict::kSafe) << what;
        EXPECT_NE(executed, Verdict::kUnsafe) << what;
      }
    }
  }
  EXPECT_GE(needed, 100U);
  EXPECT_GE(redundant, 10U);
}

TEST(Audit, FromTheSetThatCanGoNothingMoreCanGo) {
  std::size_t sets = 0;
  for (const Plan& plan : safe_corpus()) {
    const Audit result = audit(plan, {});
    const std::vector<Sync> gone = those_that_can_go(result);
    if (!gone.empty()) ++sets;
    const Plan reduced = without(plan, gone);
    EXPECT_EQ(by_clocks(reduced), Verdict::kSafe) << plan.name;
    EXPECT_NE(by_execution(reduced), Verdict::kUnsafe) << plan.name;
    for (const AuditedSync& sync : result.syncs) {
      if (sync.can_go || sync.use == Use::kNotDecided) continue;
      std::vector<Sync> more = gone;
      more.push_back(sync.sync);
      EXPECT_NE(by_clocks(without(plan, more)), Verdict::kSafe)
          << plan.name << ": " << describe(plan, sync.sync);
    }
  }
  EXPECT_GE(sets, 10U);
}

/// `use` waits twice for the same thing, once needlessly; either can go, not both.
constexpr const char* kTwice = R"({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "copy"}, {"id": "compute"}],
  "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}],
  "tensors": [{"id": "x", "storage": "s", "offset": 0, "bytes": 64}],
  "ops": [
    {"id": "load", "queue": "copy", "writes": ["x"], "signals": [{"event": "a"}, {"event": "b"}]},
    {"id": "use", "queue": "compute", "reads": ["x"], "waits": [{"event": "a"}, {"event": "b"}]}
  ]
})";

TEST(Audit, OfTwoWaitsForTheSameThingEitherIsRedundantAndOneCanGo) {
  const Plan plan = plan_of(kTwice);
  const Audit result = audit(plan, {});
  ASSERT_EQ(result.syncs.size(), 2U);
  EXPECT_EQ(result.syncs[0].use, Use::kRedundant);
  EXPECT_EQ(result.syncs[1].use, Use::kRedundant);
  EXPECT_TRUE(result.syncs[0].can_go);
  EXPECT_FALSE(result.syncs[1].can_go);
  EXPECT_EQ(describe(plan, result.syncs[1].sync), "`use` waits for event `b`");
  EXPECT_EQ(by_clocks(without(plan, those_that_can_go(result))), Verdict::kSafe);
}

TEST(Audit, SaysWhatANeededWaitProtects) {
  const Plan plan = plan_of(kTwice);
  const Plan once = without(plan, std::vector<Sync>{{.op = OpId{1}, .entry = 0}});
  const Audit result = audit(once, {});
  ASSERT_EQ(result.syncs.size(), 1U);
  ASSERT_EQ(result.syncs[0].use, Use::kNeeded);
  ASSERT_EQ(result.syncs[0].lost.size(), 1U);
  const Finding& finding = result.syncs[0].lost[0];
  EXPECT_EQ(finding.rule, Rule::kRaw);
  EXPECT_EQ(finding.ops, (std::vector<OpId>{OpId{0}, OpId{1}}));
  EXPECT_EQ(finding.bytes, (ByteRange{0, 64}));
  EXPECT_NE(finding.message, "");
}

TEST(Audit, StopsWhenTheBudgetIsSpentAndSaysSo) {
  const Audit result = audit(plan_of(kTwice), {.max_verifications = 2});
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.syncs[0].use, Use::kRedundant);
  EXPECT_EQ(result.syncs[1].use, Use::kNotAsked);
}

TEST(Audit, OfAnUnsafePlanIsItsVerdictAlone) {
  const Plan plan = plan_of(kTwice);
  const std::vector<Sync> both = {{.op = OpId{1}, .entry = 0}, {.op = OpId{1}, .entry = 1}};
  const Audit result = audit(without(plan, both), {});
  EXPECT_EQ(result.verdict, Verdict::kUnsafe);
  EXPECT_TRUE(result.syncs.empty());
}

}  // namespace
}  // namespace memverify
