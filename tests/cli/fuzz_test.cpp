// `memverify fuzz` as users run it: findings, planners of their own, campaigns, shards.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/process.h"

namespace memverify::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::vector<std::string> kUnsafeRun = {"fuzz",           "--strategy", "unsafe-direct-users",
                                             "--allow-unsafe", "--seed",     "1"};

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The report without what differs from run to run.
Json report_of(const Sandbox& sandbox, const std::string& db) {
  const Outcome outcome = sandbox.run({"fuzz", "report", db, "--format", "json"});
  Json json = Json::parse(outcome.out);
  json.erase("seconds");
  return json;
}

TEST(FuzzCli, SavesCasesThatAreRegressionTests) {
  const Sandbox sandbox;
  const Outcome outcome = sandbox.run(with(kUnsafeRun, {"--cases", "100", "--save", "found"}));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("memverify fuzz: 100 cases"), std::string::npos) << outcome.out;
  std::size_t plans = 0;
  for (const auto& entry : fs::directory_iterator(sandbox.path("found"))) {
    const std::string name = entry.path().string();
    if (!name.ends_with(".unsafe.json")) continue;
    ++plans;
    const Outcome verdict = sandbox.run({"verify", "--engine", "hb", name});
    EXPECT_EQ(verdict.exit_code, 1) << name;
    EXPECT_EQ(verdict.out, read_text(name.substr(0, name.size() - 4) + "expected")) << name;
    EXPECT_EQ(Json::parse(read_text(name))["x-expect"]["verdict"], "unsafe");
  }
  EXPECT_GE(plans, 3U);
}

TEST(FuzzCli, FindsNothingWrongWithASafeStrategy) {
  const Sandbox sandbox;
  const Outcome outcome = sandbox.run({"fuzz", "--cases", "100", "--coverage"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_NE(outcome.out.find("in place"), std::string::npos) << "the table of coverage";
}

TEST(FuzzCli, FindsWhatThePlannerInPythonGetsWrong) {
  const Sandbox sandbox;
  const std::string planner = MEMVERIFY_SOURCE "/tools/examples/planner.py";
  const Outcome outcome = sandbox.run({"fuzz", "--planner", planner, "--persistent", "--cases",
                                       "20", "--max-findings", "1", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err << outcome.out;
  const Json findings = Json::parse(outcome.out)["findings"];
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0]["outcome"], "unsafe");
  EXPECT_LE(findings[0]["ops"], 6);
  const Outcome by_file =
      sandbox.run({"fuzz", "--planner", planner + " {in} {out}", "--cases", "3", "--no-shrink"});
  EXPECT_EQ(by_file.out.find("garbage"), std::string::npos) << by_file.out;
  EXPECT_EQ(by_file.out.find("crashed"), std::string::npos) << by_file.out;
}

TEST(FuzzCli, FindsNothingWrongWithThePlannerInCpp) {
  const Sandbox sandbox;
  const Outcome outcome = sandbox.run(
      {"fuzz", "--planner", MEMVERIFY_EXAMPLE_PLANNER, "--persistent", "--cases", "100"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
}

TEST(FuzzCli, MakesTheGraphOfACrashSmall) {
  const Sandbox sandbox;
  const Outcome outcome = sandbox.run({"fuzz", "--planner",
                                       "grep -q in_place {in} && kill -ABRT $$; " MEMVERIFY_BINARY
                                       " plan {in} -o {out} >/dev/null",
                                       "--cases", "40", "--max-findings", "1", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err << outcome.out;
  const Json found = Json::parse(outcome.out)["findings"][0];
  EXPECT_EQ(found["outcome"], "crashed");
  EXPECT_EQ(found["headline"], "crashed: signal 6");
  EXPECT_LE(Json::parse(found["graph"].get<std::string>())["ops"].size(), 2U);
}

TEST(FuzzCli, GoesOnWithACampaignThatWasInterrupted) {
  const Sandbox sandbox;
  const std::vector<std::string> run = {"fuzz", "--cases", "800", "--engine", "hb"};
  EXPECT_EQ(sandbox.run(with(run, {"--db", "whole.db"})).exit_code, 0);
  sandbox.run_shell(
      "timeout -s KILL 0.1 MEMVERIFY fuzz --cases 800 --engine hb --db part.db >/dev/null");
  EXPECT_EQ(sandbox.run(with(run, {"--db", "part.db"})).exit_code, 0);
  const Json whole = report_of(sandbox, "whole.db");
  EXPECT_EQ(whole["cases"], 800);
  EXPECT_EQ(report_of(sandbox, "part.db"), whole);
  const Outcome other =
      sandbox.run({"fuzz", "--cases", "900", "--engine", "hb", "--db", "whole.db"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("has another campaign: cases `800`, not `900`"), std::string::npos)
      << other.err;
}

TEST(FuzzCli, JoinsShardsToWhatOneRunFinds) {
  const Sandbox sandbox;
  const std::vector<std::string> run = with(kUnsafeRun, {"--cases", "250"});
  sandbox.run(with(run, {"--db", "whole.db"}));
  for (const char* k : {"1", "2"}) {
    sandbox.run(with(run, {"--db", std::string(k) + ".db", "--shard", std::string(k) + "/2"}));
  }
  const Outcome merged = sandbox.run({"fuzz", "merge", "1.db", "2.db", "-o", "all.db"});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_EQ(report_of(sandbox, "all.db"), report_of(sandbox, "whole.db"));
  const auto refused = [&](const std::vector<std::string>& files, const std::string& why) {
    const Outcome outcome = sandbox.run(with(with({"fuzz", "merge"}, files), {"-o", "bad.db"}));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(sandbox.path("bad.db")));
  };
  refused({"1.db"}, "gap: block 1, of shard 2/2");
  refused({"1.db", "2.db", "1.db"}, "overlap: block 0 is in `1.db` and in `1.db`");
  refused({"1.db", "no.db"}, "`no.db`: there is no such file");
  sandbox.run({"fuzz", "--cases", "250", "--db", "other.db", "--shard", "2/2"});
  refused({"1.db", "other.db"}, "of another campaign");
}

TEST(FuzzCli, DoesNotJoinShardsOfTwoVersions) {
  const Sandbox sandbox;
  for (const std::string k : {"1", "2"}) {
    sandbox.run({"fuzz", "--planner", "false {in} {out}", "--planner-version", "v" + k, "--cases",
                 "200", "--shard", k + "/2", "--db", k + ".db"});
  }
  const Outcome outcome = sandbox.run({"fuzz", "merge", "1.db", "2.db", "-o", "all.db"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("of another campaign"), std::string::npos) << outcome.err;
}

TEST(FuzzCli, BreaksPlansAndSaysWhatBecameOfThem) {
  const Sandbox sandbox;
  const Outcome outcome =
      sandbox.run({"fuzz", "--mutate", "plans", "--cases", "12", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  const Json json = Json::parse(outcome.out);
  EXPECT_FALSE(json["mutants"].empty());
  EXPECT_GT(json["outcomes"]["killed"], 3);
}

TEST(FuzzCli, TellsWhatIsWrongWithTheCommandLine) {
  const Sandbox sandbox;
  const auto wrong = [&](const std::vector<std::string>& arguments, const std::string& why) {
    const Outcome outcome = sandbox.run(with({"fuzz"}, arguments));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
  };
  wrong({"--strategy", "unsafe-direct-users"}, "--allow-unsafe takes it");
  wrong({"--strategy", "by-sise"}, "by-size");
  wrong({"--shard", "3/2"}, "no shard K/N");
  wrong({"--persistent"}, "--planner");
  wrong({"--corpus", "no/such/folder"}, "there is no `no/such/folder`");
  wrong({"--mutate", "graphs"}, "plans");
  wrong({"report", "no.db"}, "there is no such file");
}

TEST(FuzzCli, StartsFromTheCorpus) {
  const Sandbox sandbox;
  const Outcome outcome = sandbox.run(
      {"fuzz", "--corpus", MEMVERIFY_CORPUS "/readme", "--cases", "60", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  EXPECT_GT(Json::parse(outcome.out)["outcomes"]["safe"], 30);
}

}  // namespace
}  // namespace memverify::testing
