#include "tests/support/random_plan.h"

#include <gtest/gtest.h>

#include <iomanip>
#include <iostream>
#include <map>
#include <string>

#include "plan/reader.h"
#include "plan/writer.h"
#include "tests/support/describe_result.h"
#include "tests/support/plan_features.h"
#include "tests/support/reference.h"

namespace memverify::testing {
namespace {

constexpr std::uint64_t kSeeds = 2000;
constexpr ReferenceLimits kLimits{.max_states = 20'000, .max_assignments = 64};

TEST(RandomPlan, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(random_mutated_plan(seed), random_mutated_plan(seed));
  }
  EXPECT_NE(random_mutated_plan(1), random_mutated_plan(2));
}

TEST(RandomPlan, IsWellFormed) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Result<Plan> plan = read_plan(random_mutated_plan(seed).dump(), "random");
    EXPECT_TRUE(plan.ok()) << "seed " << seed << ": " << to_string(plan.errors()[0]);
  }
}

TEST(RandomPlan, SurvivesWritingAndReading) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::optional<Plan> plan = plan_of(random_mutated_plan(seed));
    ASSERT_TRUE(plan) << "seed " << seed;
    const std::string text = write_plan(*plan);
    const Result<Plan> again = read_plan(text, "written");
    ASSERT_TRUE(again.ok()) << to_string(again.errors()[0]) << "\n" << text;
    EXPECT_EQ(describe(*plan, reference(*plan, kLimits)),
              describe(again.value(), reference(again.value(), kLimits)))
        << text;
  }
}

/// How often a feature was used, how often in safe plans, how often beside each rule.
struct Row {
  int used = 0;
  int safe = 0;
  std::map<Rule, int> rules;
};

void print(const std::map<std::string, Row>& table) {
  std::cout << std::left << std::setw(28) << "feature" << std::right << std::setw(6) << "used"
            << std::setw(6) << "safe";
  for (const Rule rule : all_rules()) std::cout << std::setw(6) << info(rule).id;
  for (const auto& [feature, row] : table) {
    std::cout << "\n"
              << std::left << std::setw(28) << feature << std::right << std::setw(6) << row.used
              << std::setw(6) << row.safe;
    for (const Rule rule : all_rules()) {
      const auto found = row.rules.find(rule);
      std::cout << std::setw(6) << (found == row.rules.end() ? 0 : found->second);
    }
  }
  std::cout << "\n";
}

TEST(RandomPlan, UsesEveryKeyInSafeAndUnsafePlansAndHitsEveryRule) {
  std::map<std::string, Row> table;
  for (const std::string& feature : all_plan_features()) table[feature];
  Row all;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const PlanJson json = random_mutated_plan(seed);
    const std::optional<Plan> plan = plan_of(json);
    ASSERT_TRUE(plan) << "seed " << seed;
    const EngineResult result = reference(*plan, kLimits);
    if (refused(result)) continue;
    std::set<Rule> rules;
    for (const Finding& finding : result.findings) rules.insert(finding.rule);
    const auto count = [&](Row& row) {
      ++row.used;
      if (result.verdict == Verdict::kSafe) ++row.safe;
      for (const Rule rule : rules) ++row.rules[rule];
    };
    count(all);
    for (const std::string& feature : plan_features(json)) {
      if (table.contains(feature)) count(table[feature]);
    }
  }
  print(table);
  EXPECT_GE(all.used, static_cast<int>(kSeeds * 9 / 10)) << "too many are too large";
  EXPECT_GE(all.safe, all.used / 3);
  EXPECT_LE(all.safe, all.used * 2 / 3);
  for (const Rule rule : all_rules()) EXPECT_GE(all.rules[rule], 3) << info(rule).id;
  for (const auto& [feature, row] : table) {
    EXPECT_GE(row.safe, 1) << feature << " is in no safe plan";
    EXPECT_GE(row.used - row.safe, 2) << feature << " is in hardly any other plan";
  }
}

}  // namespace
}  // namespace memverify::testing
