#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tools/explain_texts.h"
#include "tools/report_text.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

Report report_on(std::string_view plan) {
  const std::string path = ::testing::TempDir() + "memverify-explain-" +
                           std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
                           std::to_string(getpid()) + ".json";
  std::ofstream(path) << plan;
  Report report = verify_file(path, select_engines("auto"), EngineOptions{});
  std::remove(path.c_str());
  return report;
}

TEST(Explain, EachFailingPlanHasExactlyItsFinding) {
  for (const Rule rule : all_rules()) {
    SCOPED_TRACE(info(rule).id);
    const Report report = report_on(explain_text(rule).failing);
    ASSERT_TRUE(report.errors.empty()) << text_errors(report.errors, Style());
    ASSERT_FALSE(report.findings.empty());
    for (const Finding& finding : report.findings) {
      EXPECT_EQ(finding.rule, rule) << text_finding(report.plan, finding, Style());
    }
    EXPECT_EQ(report.internal_errors, std::vector<std::string>{});
  }
}

TEST(Explain, EachMendedPlanIsSafeWithoutFindings) {
  for (const Rule rule : all_rules()) {
    SCOPED_TRACE(info(rule).id);
    const Report report = report_on(passing_plan(explain_text(rule)));
    ASSERT_TRUE(report.errors.empty()) << text_errors(report.errors, Style());
    EXPECT_EQ(report.verdict, Verdict::kSafe) << text_report(report, Style());
    EXPECT_TRUE(report.findings.empty()) << text_report(report, Style());
  }
}

}  // namespace
}  // namespace memverify
