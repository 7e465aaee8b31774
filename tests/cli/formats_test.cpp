// `memverify verify` for continuous integration: SARIF, JUnit, GitHub, several outputs, baselines.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;

class CliFormats : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("GITHUB_STEP_SUMMARY");
    box_.write("safe.json", safe_plan());
    box_.write("unsafe.json", unsafe_plan());
    box_.write("unknown.json", unknown_plan());
    box_.write("bad.json", bad_plan());
  }
  Json sarif_of(std::vector<std::string> files) {
    files.insert(files.end(), {"--format", "sarif"});
    return Json::parse(box_.run(files).out);
  }
  Sandbox box_;
};

TEST_F(CliFormats, SarifHasAResultWithRunLanesAndFingerprint) {
  const Json log = sarif_of({"unsafe.json"});
  EXPECT_EQ(log["version"], "2.1.0");
  const Json& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "memverify");
  EXPECT_EQ(run["invocations"][0]["exitCode"], 1);
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], true);
  ASSERT_EQ(run["results"].size(), 1U);
  const Json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "MV102");
  EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"], "MV102");
  EXPECT_EQ(result["level"], "error");
  const Json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "unsafe.json");
  const std::string plan = unsafe_plan();
  const auto op = plan.find("\"make_x\"");
  EXPECT_EQ(place["region"]["startLine"],
            1 + std::count(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(op), '\n'));
  ASSERT_EQ(result["codeFlows"].size(), 2U);
  const Json& steps = result["codeFlows"][0]["threadFlows"][0]["locations"];
  std::size_t in_lanes = 0;
  for (const Json& lane : result["codeFlows"][1]["threadFlows"])
    in_lanes += lane["locations"].size();
  EXPECT_EQ(in_lanes, steps.size());
  EXPECT_GE(steps.size(), 2U);
  EXPECT_EQ(result["partialFingerprints"]["primaryLocationLineHash"].get<std::string>().size(),
            16U);
}

TEST_F(CliFormats, SarifTellsBadInputAndWhatIsNotProven) {
  const Json log = sarif_of({"bad.json", "unknown.json"});
  const Json& run = log["runs"][0];
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
  EXPECT_EQ(run["invocations"][0]["toolExecutionNotifications"][0]["level"], "error");
  EXPECT_EQ(run["results"][0]["ruleId"], "MV201");
  EXPECT_EQ(run["results"][0]["level"], "warning");
}

TEST_F(CliFormats, FingerprintOutlivesMovedBytesButNotOtherOps) {
  const auto print = [&](const std::string& plan) {
    box_.write("unsafe.json", plan);
    return sarif_of({"unsafe.json"})["runs"][0]["results"][0]["partialFingerprints"];
  };
  Json plan = Json::parse(unsafe_plan());
  const Json before = print(plan.dump());
  for (Json& storage : plan["storages"]) storage["offset"] = storage["offset"].get<int>() + 4096;
  EXPECT_EQ(print(plan.dump(2)), before);
  for (Json& op : plan["ops"]) {
    if (op["id"] == "make_x") op["id"] = "make_y";
  }
  EXPECT_NE(print(plan.dump()), before);
}

TEST_F(CliFormats, UrisArePercentEncoded) {
  box_.write("a b%.json", unsafe_plan());
  EXPECT_EQ(sarif_of({"a b%.json"})["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
                                   ["artifactLocation"]["uri"],
            "a%20b%25.json");
}

TEST_F(CliFormats, JunitHasACaseForEachPlanAndHostileNamesStayText) {
  Json plan = Json::parse(unsafe_plan());
  for (Json& op : plan["ops"]) {
    if (op["id"] == "make_x") op["id"] = "]]></failure>\u0001\uFFFF&\"";
  }
  box_.write("unsafe.json", plan.dump());
  const Outcome run =
      box_.run({"safe.json", "unsafe.json", "bad.json", "unknown.json", "--format", "junit"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.out, R"(tests="4" failures="2" errors="1")")) << run.out;
  EXPECT_TRUE(contains(run.out, R"(<testcase classname="memverify" name="safe.json"/>)"));
  EXPECT_TRUE(contains(run.out, R"(<failure type="unsafe")")) << run.out;
  EXPECT_TRUE(contains(run.out, R"(<error type="bad input")")) << run.out;
  EXPECT_TRUE(contains(run.out, "]]&gt;&lt;/failure&gt;")) << run.out;
  EXPECT_FALSE(contains(run.out, "\x01"));
  EXPECT_FALSE(contains(run.out, "\xEF\xBF\xBF"));
}

TEST_F(CliFormats, GithubAnnotatesAndSummarises) {
  setenv("GITHUB_STEP_SUMMARY", "summary.md", 1);
  const Outcome run = box_.run({"unsafe.json", "safe.json", "--format", "github"});
  unsetenv("GITHUB_STEP_SUMMARY");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.out, "::error file=unsafe.json,line=")) << run.out;
  EXPECT_TRUE(contains(run.out, "title=MV102 ")) << run.out;
  EXPECT_TRUE(contains(run.out, "%0Ahelp: ")) << run.out;
  EXPECT_TRUE(contains(run.out, "memverify: safe.json: safe, ")) << run.out;
  const std::string summary = box_.read("summary.md");
  EXPECT_TRUE(contains(summary, "| unsafe.json | unsafe, ")) << summary;
  EXPECT_TRUE(contains(summary, "```text\nerror[MV102]")) << summary;
}

TEST_F(CliFormats, GithubShowsTenAnnotationsOfAKind) {
  Json plan = Json::parse(R"({"memverify": 1, "pools": [{"id": "p"}], "queues": [{"id": "q"}],
      "storages": [], "tensors": [], "ops": []})");
  for (int k = 0; k < 12; ++k) {
    const std::string n = std::to_string(k);
    plan["storages"].push_back({{"id", "s" + n}, {"pool", "p"}, {"offset", 64 * k}, {"bytes", 64}});
    plan["tensors"].push_back({{"id", "t" + n}, {"storage", "s" + n}, {"bytes", 64}});
    plan["ops"].push_back({{"id", "o" + n}, {"queue", "q"}, {"reads", {"t" + n}}});
  }
  box_.write("many.json", plan.dump());
  const std::string out = box_.run({"many.json", "--format", "github"}).out;
  std::size_t shown = 0;
  for (auto at = out.find("::error "); at != std::string::npos; at = out.find("::error ", at + 1)) {
    ++shown;
  }
  EXPECT_EQ(shown, 10U) << out;
  EXPECT_TRUE(contains(out, "12 findings")) << out;
}

TEST_F(CliFormats, SeveralOutputsOfOneRunHaveOneExitCode) {
  const Outcome plain = box_.run({"unsafe.json"});
  const Outcome run = box_.run({"unsafe.json", "--output", "sarif=a.sarif", "--output",
                                "junit=b.xml", "--output=json=c.json"});
  EXPECT_EQ(run.exit_code, plain.exit_code);
  EXPECT_EQ(run.out, plain.out);
  EXPECT_EQ(Json::parse(box_.read("a.sarif"))["runs"][0]["results"].size(), 1U);
  EXPECT_TRUE(contains(box_.read("b.xml"), "<testsuites")) << box_.read("b.xml");
  EXPECT_EQ(Json::parse(box_.read("c.json"))["verdict"], "unsafe");
  EXPECT_EQ(box_.run({"safe.json", "--output", "sarif=no/such/folder"}).exit_code, 2);
  for (const char* wrong : {"sarif", "sarif=", "=x", "sarf=x"}) {
    const Outcome refused = box_.run({"safe.json", "--output", wrong});
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_TRUE(contains(refused.err, "FORMAT=FILE")) << refused.err;
  }
}

// --- baselines ---

TEST_F(CliFormats, BaselineLetsPassWhatItAcceptsAndNothingElse) {
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", "b.json", "--accept", "known"}).exit_code, 0);
  const Outcome known = box_.run({"unsafe.json", "--baseline", "b.json"});
  EXPECT_EQ(known.exit_code, 0) << known.err;
  EXPECT_TRUE(contains(known.out, "memverify: unsafe, 1 pair checked, 1 finding, 1 accepted\n"));
  EXPECT_TRUE(contains(known.out, "accepted: known")) << known.out;
  const Json result =
      Json::parse(box_.run({"unsafe.json", "--baseline", "b.json", "--format", "json"}).out);
  EXPECT_EQ(result["findings"][0]["accepted"], "known");
  EXPECT_EQ(result["verdict"], "unsafe");
  Json other = Json::parse(unsafe_plan());
  for (Json& op : other["ops"]) {
    if (op["id"] == "make_x") op["id"] = "make_y";
  }
  box_.write("other.json", other.dump());
  const Outcome fresh = box_.run({"other.json", "--baseline", "b.json"});
  EXPECT_EQ(fresh.exit_code, 1);
}

TEST_F(CliFormats, BaselineEntriesExpireAndShrink) {
  box_.run({"unsafe.json", "--baseline", "b.json", "--accept", "known"});
  Json baseline = Json::parse(box_.read("b.json"));
  baseline["accepted"][0]["expires"] = "2020-02-29";
  box_.write("b.json", baseline.dump());
  const Outcome late = box_.run({"unsafe.json", "--baseline", "b.json"});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_TRUE(contains(late.err, "has expired")) << late.err;
  baseline["accepted"][0]["expires"] = "9999-12-31";
  box_.write("b.json", baseline.dump());
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", "b.json"}).exit_code, 0);
  box_.write("unsafe.json", safe_plan());
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", "b.json", "--baseline-shrink-only"}).exit_code,
            0);
  box_.write("unsafe.json", unsafe_plan());
  EXPECT_EQ(Json::parse(box_.read("b.json"))["accepted"].size(), 0U);
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", "b.json", "--baseline-shrink-only"}).exit_code,
            1);
  EXPECT_EQ(Json::parse(box_.read("b.json"))["accepted"].size(), 0U);
}

TEST_F(CliFormats, ShrinkingSparesWhatWasNotLookedAt) {
  box_.run({"unsafe.json", "--baseline", "b.json", "--accept", "known"});
  const std::string before = box_.read("b.json");
  for (const char* other : {"bad.json", "safe.json", "missing.json"}) {
    box_.run({other, "--baseline", "b.json", "--baseline-shrink-only"});
    EXPECT_EQ(box_.read("b.json"), before) << other;
  }
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", "b.json", "--baseline-shrink-only", "--accept",
                      "more"})
                .exit_code,
            2);
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", "b.json", "--accept", " "}).exit_code, 2);
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", ""}).exit_code, 2);
  EXPECT_EQ(box_.read("b.json"), before);
}

TEST_F(CliFormats, AnotherClashOfTheSameOpsIsAnotherFinding) {
  Json plan = Json::parse(unsafe_plan());
  box_.run({"unsafe.json", "--baseline", "b.json", "--accept", "known"});
  plan["storages"].push_back({{"id", "s2"}, {"pool", "hbm"}, {"offset", 64}, {"bytes", 64}});
  plan["tensors"].push_back({{"id", "y"}, {"storage", "s2"}, {"bytes", 64}});
  for (Json& op : plan["ops"]) {
    if (op["id"] == "make_x") op["writes"].push_back("y");
    if (op["id"] == "send_x") op["reads"].push_back("y");
  }
  box_.write("unsafe.json", plan.dump());
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", "b.json"}).exit_code, 1);
}

TEST_F(CliFormats, NothingIsWrittenOver) {
  const std::string plan = box_.read("unsafe.json");
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--output", "json=o", "--output", "sarif=./o"},
           {"--output", "json=unsafe.json"},
           {"--certificate", "unsafe.json"},
           {"--certificate", "o", "--output", "json=o"},
           {"--baseline", "b.json", "--accept", "r", "--output", "json=b.json"}}) {
    std::vector<std::string> words = {"unsafe.json"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(box_.run(words).exit_code, 2) << more.back();
    EXPECT_EQ(box_.read("unsafe.json"), plan);
  }
}

TEST_F(CliFormats, WhatIsNotProvenCanBeAcceptedToo) {
  EXPECT_EQ(box_.run({"unknown.json", "--baseline", "b.json", "--accept", "later"}).exit_code, 0);
  EXPECT_EQ(box_.run({"unknown.json", "--baseline", "b.json"}).exit_code, 0);
}

TEST_F(CliFormats, BaselineThatIsNoneIsBadInputAndStaysAsItIs) {
  const std::string entry = R"({"fingerprint":"0123456789abcdef","reason":"r")";
  for (const std::string& text :
       {std::string("{"), std::string("[]"),
        R"({"memverify_baseline":1,"accepted":)" + std::string(100'000, '['),
        std::string(R"({"memverify_baseline":2})"),
        R"({"memverify_baseline":1,"accepted":[{"fingerprint":"12","reason":"r"}]})" +
            std::string(),
        R"({"memverify_baseline":1,"accepted":[{"fingerprint":"0123456789abcdef"}]})" +
            std::string(),
        R"({"memverify_baseline":1,"accepted":[)" + entry + R"(,"expires":"2026-02-30"}]})",
        R"({"memverify_baseline":1,"accepted":[)" + entry + R"(,"reason":"s"}]})",
        R"({"memverify_baseline":1,"accepted":[)" + entry + R"(,"extra":""}]})"}) {
    box_.write("b.json", text);
    const Outcome run = box_.run({"unsafe.json", "--baseline", "b.json", "--accept", "x"});
    EXPECT_EQ(run.exit_code, 2) << text;
    EXPECT_TRUE(contains(run.err, "b.json")) << run.err;
    EXPECT_EQ(box_.read("b.json"), text);
  }
  EXPECT_EQ(box_.run({"unsafe.json", "--accept", "x"}).exit_code, 2);
  EXPECT_EQ(box_.run({"unsafe.json", "--baseline", "none.json"}).exit_code, 2);
}

}  // namespace
}  // namespace memverify::testing
