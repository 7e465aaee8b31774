#include "tools/fuzz_block.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/reader.h"
#include "tools/campaign.h"
#include "tools/shrink.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

BlockResult block_of(std::string_view strategy, std::uint64_t block = 0) {
  const auto target = strategy_target(*find_strategy(strategy));
  const EngineChoice engines = select_engines("hb");
  const BlockOptions options{.seed = 1, .cases = 1000};
  return run_block(block, options, *target, engines, [] {});
}

/// The finding that `x-expect` names first, and none that it does not name.
bool shows(const PlanJson& json, const PlanJson& expected) {
  const Result<Plan> plan = read_plan(json.dump(), "");
  if (!plan.ok() || !cannot_be_verified(plan.value()).empty()) return false;
  const Tried tried = try_plan(plan.value(), select_engines("hb"));
  PlanJson found = PlanJson::array();
  for (const Finding& finding : tried.findings) {
    PlanJson entry = {info(finding.rule).id};
    for (const OpId op : finding.ops) entry.push_back(tried.plan->ops[op].name);
    found.push_back(entry);
  }
  return !found.empty() && std::ranges::count(found, expected[0]) > 0 &&
         std::ranges::all_of(
             found, [&](const PlanJson& f) { return std::ranges::count(expected, f) > 0; });
}

/// Tries to take out each op and each entry of its lists, with code that the shrinker has not.
void expect_minimal(const std::string& text) {
  const PlanJson plan = PlanJson::parse(text);
  const PlanJson expected = plan["x-expect"]["findings"];
  ASSERT_TRUE(shows(plan, expected)) << text;
  for (std::size_t k = 0; k < plan["ops"].size(); ++k) {
    PlanJson less = plan;
    less["ops"].erase(k);
    EXPECT_FALSE(shows(less, expected)) << "op " << k << " can go from\n" << text;
    for (const auto& [key, list] : plan["ops"][k].items()) {
      for (std::size_t entry = 0; list.is_array() && entry < list.size(); ++entry) {
        less = plan;
        less["ops"][k][key].erase(entry);
        EXPECT_FALSE(shows(less, expected)) << key << " of op " << k << " can go from\n" << text;
      }
    }
  }
}

class FuzzUnsafe : public ::testing::TestWithParam<const char*> {};

TEST_P(FuzzUnsafe, IsCaughtWithinAHundredCasesByAtMostSixOps) {
  const BlockResult result = block_of(GetParam());
  ASSERT_FALSE(result.found.empty());
  EXPECT_TRUE(result.internal_errors.empty());
  std::size_t checked = 0;
  for (const FoundCase& found : result.found) {
    EXPECT_EQ(found.result.outcome, Outcome::kUnsafe);
    EXPECT_LE(found.minimal.ops, 6U) << found.minimal.plan;
    EXPECT_NE(found.minimal.expected.find(info(found.result.rule).id), std::string::npos);
    if (++checked <= 4) expect_minimal(found.minimal.plan);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, FuzzUnsafe,
                         ::testing::Values("unsafe-direct-users", "unsafe-program-order"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(FuzzBlock, FindsNothingInSafeStrategies) {
  for (const char* strategy : {"by-size", "greedy-death", "coloring"}) {
    const BlockResult result = block_of(strategy, 1);
    EXPECT_TRUE(result.found.empty()) << strategy << "\n" << result.found.front().minimal.plan;
    EXPECT_GE(result.counts[static_cast<std::size_t>(Outcome::kSafe)], 95U);
  }
}

TEST(FuzzBlock, DependsOnItsNumberAlone) {
  CampaignTotals once;
  CampaignTotals again;
  once.add(block_of("unsafe-program-order", 3));
  again.add(block_of("unsafe-program-order", 3));
  once.seconds = again.seconds = 0;
  EXPECT_EQ(campaign_json({}, once), campaign_json({}, again));
  EXPECT_EQ(once.found.front().number / kCasesInBlock, 3U);
}

TEST(FuzzBlock, FingerprintsDoNotKnowNamesAndSizes) {
  const PlanJson plan = PlanJson::parse(R"({"memverify": 1, "pools": [{"id": "p"}],
    "queues": [{"id": "q"}, {"id": "r"}],
    "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "t", "storage": "s", "bytes": 8}],
    "ops": [{"id": "a", "queue": "q", "writes": ["t"]}, {"id": "b", "queue": "r", "reads": ["t"]}]})");
  PlanJson other = PlanJson::parse(R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "left"}, {"id": "right"}],
    "storages": [{"id": "z", "pool": "hbm", "offset": 64, "bytes": 4}],
    "tensors": [{"id": "x", "storage": "z", "bytes": 4}],
    "ops": [{"id": "u", "queue": "left", "writes": ["x"]},
            {"id": "v", "queue": "right", "reads": ["x"], "label": "Use"}]})");
  const CaseResult raw{.outcome = Outcome::kUnsafe, .rule = Rule::kRaw};
  EXPECT_EQ(fingerprint_of(plan, raw), fingerprint_of(other, raw));
  EXPECT_NE(fingerprint_of(plan, raw), fingerprint_of(plan, {.outcome = Outcome::kUnsafe}));
  other["ops"][1]["queue"] = "left";
  EXPECT_NE(fingerprint_of(plan, raw), fingerprint_of(other, raw));
}

}  // namespace
}  // namespace memverify
