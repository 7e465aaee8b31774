// The command line itself: help, version, usage errors, the other subcommands.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "plan/finding.h"
#include "plan/version.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Words = std::vector<std::string>;

TEST(CliUsage, NoArgumentsIsAUsageError) {
  const Outcome run = Sandbox().run({});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "Usage: memverify")) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(CliUsage, HelpIsOnStandardOutputWithExamples) {
  const Sandbox box;
  for (const Words& words : {Words{"--help"}, Words{"-h"}, Words{"help"}, Words{"verify", "--help"},
                             Words{"explain", "-h"}, Words{"show", "--help"}}) {
    const Outcome run = box.run(words);
    EXPECT_EQ(run.exit_code, 0) << words[0];
    EXPECT_TRUE(contains(run.out, "Example")) << run.out;
    EXPECT_EQ(run.err, "");
  }
}

TEST(CliUsage, VersionIsOneLine) {
  const Outcome run = Sandbox().run({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out.rfind("memverify ", 0), 0U);
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 1);
}

TEST(CliUsage, VersionForPrograms) {
  const Outcome run = Sandbox().run({"--version", "--json"});
  EXPECT_EQ(run.exit_code, 0);
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["version"], MEMVERIFY_VERSION);
  EXPECT_EQ(json["engines"], (Words{"hb", "smt", "sim"}));
  EXPECT_EQ(json["commands"][0], "verify");
  for (const char* list : {"strategies", "importers", "formats"}) EXPECT_GE(json[list].size(), 4U);
}

TEST(CliUsage, EveryUsageErrorExitsWithTwo) {
  Sandbox box;
  box.write("safe.json", safe_plan());
  for (const Words& words :
       {Words{"verify"}, Words{"show"}, Words{"--format", "json"},
        Words{"safe.json", "--formt", "json"}, Words{"safe.json", "--format"},
        Words{"safe.json", "--format", "xml"}, Words{"safe.json", "--max-findings", "0"},
        Words{"safe.json", "--max-findings", "-1"}, Words{"safe.json", "--max-findings", "many"},
        Words{"safe.json", "--max-findings", "99999999999999999999"},
        Words{"safe.json", "--color", "blue"}, Words{"safe.json", "-z"}, Words{""},
        Words{"explain", "MV999"}, Words{"--version", "--jsn"},
        Words{"explain", "--colour", "never"}, Words{"show", "absent"}}) {
    const Outcome run = box.run(words);
    EXPECT_EQ(run.exit_code, 2) << ::testing::PrintToString(words);
    EXPECT_NE(run.err, "") << ::testing::PrintToString(words);
  }
}

TEST(CliUsage, MisspeltOptionsAndWordsGetASuggestion) {
  Sandbox box;
  box.write("safe.json", safe_plan());
  EXPECT_TRUE(contains(box.run({"safe.json", "--formt", "json"}).err, "--format"));
  EXPECT_TRUE(contains(box.run({"safe.json", "--max-finding=3"}).err, "--max-findings"));
  EXPECT_TRUE(contains(box.run({"safe.json", "--format", "jsno"}).err, "did you mean `json`"));
  EXPECT_TRUE(contains(box.run({"verfy", "safe.json"}).err, "did you mean `verify`"));
  EXPECT_TRUE(contains(box.run({"expain"}).err, "did you mean `explain`"));
  EXPECT_TRUE(contains(box.run({"explain", "MV1O1"}).err, "did you mean `MV101`"));
}

TEST(CliExplain, ListsAllRules) {
  const Outcome run = Sandbox().run({"explain"});
  EXPECT_EQ(run.exit_code, 0);
  for (const Rule rule : all_rules()) {
    EXPECT_TRUE(contains(run.out, std::string(info(rule).id))) << info(rule).id;
  }
}

TEST(CliExplain, TakesRulesInAnyCase) {
  const Sandbox box;
  const Outcome run = box.run({"explain", "mv101"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out.rfind("MV101: reuse before the last read", 0), 0U) << run.out;
  EXPECT_EQ(run.out, box.run({"explain", "MV101"}).out);
}

TEST(CliShow, PrintsPoolsTensorsAndQueues) {
  Sandbox box;
  box.write("safe.json", safe_plan());
  const Outcome run = box.run({"show", "safe.json"});
  EXPECT_EQ(run.exit_code, 0);
  for (const std::string part : {"plan `ordered`", "pools", "hbm", "storages", "[0, 64)", "tensors",
                                 "queue compute: serial", "make_x", "after make_x"}) {
    EXPECT_TRUE(contains(run.out, part)) << part << "\n" << run.out;
  }
}

TEST(CliShow, ShowsAPlanThatIsNotPlacedYet) {
  const Outcome run = Sandbox().run({"show", "-"}, unplaced_plan());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "unplaced")) << run.out;
}

TEST(CliShow, BadPlanExitsWithTwo) {
  EXPECT_EQ(Sandbox().run({"show", "-"}, bad_plan()).exit_code, 2);
}

}  // namespace
}  // namespace memverify::testing
