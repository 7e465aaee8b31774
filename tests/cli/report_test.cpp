// `memverify report`: formats, exit codes, what is refused. What the pictures show is tested in
// tests/unit/tools/report_data_test.cpp and tests/browser.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Words = std::vector<std::string>;

class CliReport : public ::testing::Test {
 protected:
  void SetUp() override {
    box_.write("safe.json", safe_plan());
    box_.write("unsafe.json", unsafe_plan());
    box_.write("bad.json", bad_plan());
    box_.write("unplaced.json", unplaced_plan());
  }
  Sandbox box_;
};

TEST_F(CliReport, APageIsWrittenToStandardOutputOrAFileAndTheVerdictIsTheExitCode) {
  const Outcome page = box_.run({"report", "unsafe.json"});
  EXPECT_EQ(page.exit_code, 1);
  EXPECT_TRUE(page.out.starts_with("<!doctype html>"));
  EXPECT_TRUE(contains(page.out, "\"verdict\": \"unsafe\""));
  EXPECT_EQ(page.err, "memverify: unsafe, 1 pair checked, 1 finding\n");
  const Outcome file = box_.run({"report", "safe.json", "-o", "page.html"});
  EXPECT_EQ(file.exit_code, 0);
  EXPECT_EQ(file.out, "memverify: safe, 1 pair checked, 0 findings\n");
  EXPECT_EQ(file.err, "");
}

TEST_F(CliReport, TwoPlansAreInOnePage) {
  const Outcome page = box_.run({"report", "safe.json", "--compare", "unsafe.json"});
  EXPECT_EQ(page.exit_code, 1);
  EXPECT_TRUE(contains(page.out, "\"plan\": \"ordered\""));
  EXPECT_TRUE(contains(page.out, "\"plan\": \"racy\""));
}

TEST_F(CliReport, TheOtherFormatsAreOfOnePlan) {
  EXPECT_TRUE(box_.run({"report", "safe.json", "--format", "svg"}).out.starts_with("<svg "));
  EXPECT_TRUE(box_.run({"report", "safe.json", "--format", "dot"}).out.starts_with("digraph "));
  const Outcome trace = box_.run({"report", "safe.json", "--format", "perfetto"});
  EXPECT_EQ(trace.exit_code, 0);
  EXPECT_TRUE(nlohmann::json::parse(trace.out)["traceEvents"].is_array());
}

TEST_F(CliReport, WhatMakesNoPictureIsRefused) {
  for (const Words& words :
       {Words{"report"}, Words{"report", "bad.json"}, Words{"report", "absent.json"},
        Words{"report", "unplaced.json"}, Words{"report", "safe.json", "--format", "png"},
        Words{"report", "safe.json", "--compare", "unsafe.json", "--format", "svg"},
        Words{"report", "safe.json", "--compare", "bad.json"},
        Words{"report", "safe.json", "-o", "absent/page.html"},
        Words{"report", "safe.json", "-o", "safe.json"}}) {
    const Outcome run = box_.run(words);
    EXPECT_EQ(run.exit_code, 2) << ::testing::PrintToString(words);
    EXPECT_NE(run.err, "") << ::testing::PrintToString(words);
    EXPECT_FALSE(contains(run.out, "<!doctype")) << ::testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace memverify::testing
