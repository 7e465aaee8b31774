// `memverify simulate FILE` as a user meets it: every option, its bad values, and what comes out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

/// A condition, a symbol and a late queue.
std::string open_plan() {
  return R"({
  "memverify": 1,
  "symbols": {"n": {"min": 1, "max": 4}},
  "conditions": ["training"],
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}, {"id": "dma", "delay": [3, 4]}],
  "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": "64 * n"}],
  "tensors": [{"id": "x", "storage": "s", "offset": 0, "bytes": "64 * n"}],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"]},
    {"id": "send_x", "queue": "dma", "reads": ["x"], "when": {"training": true}}
  ]
}
)";
}

class CliSimulate : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("NO_COLOR");
    box_.write("safe.json", safe_plan());
    box_.write("unsafe.json", unsafe_plan());
    box_.write("unknown.json", unknown_plan());
    box_.write("bad.json", bad_plan());
    box_.write("open.json", open_plan());
  }
  Outcome simulate(Words arguments) const {
    arguments.insert(arguments.begin(), "simulate");
    return box_.run(arguments);
  }
  Sandbox box_;
};

TEST_F(CliSimulate, SafePlanExitsWithZeroAndSaysThatEveryStateWasVisited) {
  const Outcome run = simulate({"safe.json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(contains(run.out,
                       "fails in 0 of 1 interleavings\n"
                       "memverify: safe, 5 states, 0 findings, exhaustive\n"))
      << run.out;
}

TEST_F(CliSimulate, UnsafePlanExitsWithOneAndShowsTheRunAsStepsAndLanes) {
  const Outcome run = simulate({"unsafe.json"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(contains(run.out, "error[MV102]")) << run.out;
  EXPECT_TRUE(contains(run.out,
                       "  1  start     `make_x` on queue `compute`\n"
                       "  2  start     `send_x` on queue `dma`\n"
                       "\n"
                       "  compute  [make_x======>\n"
                       "  dma           [send_x=>\n"))
      << run.out;
  EXPECT_TRUE(contains(run.out,
                       "note: fails in 5 of 6 interleavings\n"
                       "memverify: unsafe, 9 states, 1 finding, exhaustive\n"))
      << run.out;
}

TEST_F(CliSimulate, UnknownAndBadPlansExitAsVerifyDoes) {
  EXPECT_EQ(simulate({"unknown.json"}).exit_code, 3);
  const Outcome bad = simulate({"bad.json"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(bad.out, "memverify: error, 1 error\n");
  EXPECT_TRUE(contains(bad.err, "reeds")) << bad.err;
  EXPECT_EQ(Json::parse(simulate({"bad.json", "--format", "json"}).out)["verdict"], "error");
  EXPECT_EQ(simulate({"absent.json"}).exit_code, 2);
}

TEST_F(CliSimulate, StandardInputIsADash) {
  EXPECT_EQ(box_.run({"simulate", "-"}, unsafe_plan()).exit_code, 1);
}

TEST_F(CliSimulate, QuietPrintsOnlyTheLastLine) {
  EXPECT_EQ(simulate({"unsafe.json", "-q"}).out,
            "memverify: unsafe, 9 states, 1 finding, exhaustive\n");
}

TEST_F(CliSimulate, JsonHoldsTheCountsAsDecimalStrings) {
  const Outcome run = simulate({"unsafe.json", "--format", "json"});
  EXPECT_EQ(run.exit_code, 1);
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["verdict"], "unsafe");
  EXPECT_EQ(json["engines"], (Json{{"sim", "unsafe"}}));
  EXPECT_EQ(json["findings"].size(), 1U);
  const Json& stats = json["stats"];
  EXPECT_EQ(stats["states"], "9");
  EXPECT_EQ(stats["transitions"], "12");
  EXPECT_EQ(stats["interleavings"], "6");
  EXPECT_EQ(stats["failing"], "5");
  EXPECT_EQ(stats["exhaustive"], true);
  EXPECT_EQ(stats["reduction"], "none");
}

TEST_F(CliSimulate, ReductionsFindTheSameWithLess) {
  for (const char* reduction : {"sleep", "classes"}) {
    const Json json =
        Json::parse(simulate({"unsafe.json", "--reduction", reduction, "--format", "json"}).out);
    EXPECT_EQ(json["findings"][0]["rule"], "MV102");
    EXPECT_LT(std::stoi(json["stats"]["transitions"].get<std::string>()), 12);
    EXPECT_EQ(json["stats"]["interleavings"], nullptr) << "they are not all met";
  }
}

TEST_F(CliSimulate, ThreadsChangeNothing) {
  EXPECT_EQ(simulate({"unsafe.json", "--threads", "1"}).out,
            simulate({"unsafe.json", "--threads", "7"}).out);
}

TEST_F(CliSimulate, WitnessIsWrittenAndReplays) {
  EXPECT_EQ(simulate({"unsafe.json", "--witness", "run.json", "-q"}).exit_code, 1);
  const Outcome again = simulate({"unsafe.json", "--replay", "run.json"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_TRUE(contains(again.out, "memverify: the run shows MV102\n")) << again.out;
  const Json json =
      Json::parse(simulate({"unsafe.json", "--replay", "run.json", "--format", "json"}).out);
  EXPECT_EQ(json["confirmed"], true);
  EXPECT_EQ(simulate({"unsafe.json", "--witness", "-"}).out, read_text(box_.path("run.json")));
}

TEST_F(CliSimulate, ResultOfVerifyIsAWitnessFileToo) {
  box_.write("result.json", box_.run({"unsafe.json", "--format", "json"}).out);
  EXPECT_EQ(simulate({"unsafe.json", "--replay", "result.json"}).exit_code, 1);
}

TEST_F(CliSimulate, WitnessOfAnotherPlanSaysWhereItDeparts) {
  simulate({"unsafe.json", "--witness", "run.json", "-q"});
  const Outcome run = simulate({"safe.json", "--replay", "run.json"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.out, "does not show MV102: step 2: ")) << run.out;
  EXPECT_TRUE(contains(run.out, "must wait for `make_x`")) << run.out;
  const Outcome strange = simulate({"open.json", "--replay", "result.json"});
  EXPECT_EQ(strange.exit_code, 2) << "there is no such file";
}

TEST_F(CliSimulate, WitnessWithSymbolValuesThatThePlanDoesNotAllowIsBadInput) {
  simulate({"open.json", "--witness", "run.json", "-q"});
  Json finding = Json::parse(read_text(box_.path("run.json")));
  ASSERT_TRUE(finding["symbols"].contains("n")) << finding;
  finding["symbols"]["n"] = 1'000'000;
  box_.write("run.json", finding.dump());
  const Outcome run = simulate({"open.json", "--replay", "run.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "1000000 is no value of symbol `n`")) << run.err;
}

TEST_F(CliSimulate, WitnessFileThatIsNoneIsBadInput) {
  for (const char* text :
       {"", "{", "[]", "{}", "7", R"({"findings": []})", R"({"rule": 7})", R"({"rule": "MV999"})",
        R"({"rule": "MV102", "ops": 1})", R"({"rule": "MV102", "ops": ["nobody"]})",
        R"({"rule": "MV102", "witness": [1]})", R"({"rule": "MV102", "iteration": ["a"]})",
        R"({"rule": "MV102", "witness": [{"at": "start", "op": 1}]})"}) {
    box_.write("run.json", text);
    const Outcome run = simulate({"unsafe.json", "--replay", "run.json"});
    EXPECT_EQ(run.exit_code, 2) << text;
    EXPECT_TRUE(contains(run.err, "run.json: ")) << run.err;
  }
}

TEST_F(CliSimulate, NoFindingMeansNoWitness) {
  const Outcome run = simulate({"safe.json", "--witness", "run.json"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.err, "no witness was written")) << run.err;
  EXPECT_EQ(simulate({"unsafe.json", "--witness", "/no/such/folder/run.json"}).exit_code, 2);
}

TEST_F(CliSimulate, DelaysRunEveryCombinationAndNameTheSmallestFailingOne) {
  const Outcome run = simulate({"unsafe.json", "--delays", "0..3"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(contains(run.out, "The smallest failing combination: everything as early as it can"))
      << run.out;
  EXPECT_TRUE(contains(run.out, "10 of 16 timed runs fail (every combination)")) << run.out;
  const Json json = Json::parse(simulate({"open.json", "--timed", "--format", "json"}).out);
  EXPECT_EQ(json["verdict"], "unknown");
  EXPECT_EQ(json["timed"]["failing"], 0);
}

TEST_F(CliSimulate, TooManyCombinationsAreDrawnWithAStatedSeed) {
  const Outcome run =
      simulate({"unsafe.json", "--delays", "0..99", "--timed-runs", "50", "--seed", "5"});
  EXPECT_TRUE(contains(run.out, "of 50 timed runs")) << run.out;
  EXPECT_TRUE(contains(run.out, "drawn with seed 5 from 10000 combinations")) << run.out;
}

TEST_F(CliSimulate, RandomRunsPrintTheirBoundAndProveNothing) {
  const Outcome run = simulate({"safe.json", "--random", "20", "--seed", "3"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.out, "Random runs prove nothing")) << run.out;
  EXPECT_TRUE(contains(run.out,
                       "0 of 20 random runs failed (seed 3); each shows a given bug of "
                       "depth 3 with probability at least 0.0312"))
      << run.out;
  EXPECT_EQ(simulate({"unsafe.json", "--random", "20"}).exit_code, 1);
}

TEST_F(CliSimulate, BudgetsEndAsNotProvenWithHowFarItCame) {
  const Outcome run = simulate({"safe.json", "--budget-states", "3"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.out, "limit of states after 3 states")) << run.out;
  EXPECT_TRUE(contains(run.out, "memverify: unknown, 3 states, 1 finding, not exhaustive\n"))
      << run.out;
  EXPECT_EQ(simulate({"open.json", "--budget-seconds", "0.000001"}).exit_code, 3);
  EXPECT_EQ(simulate({"safe.json", "--budget-memory", "1000"}).exit_code, 0);
}

TEST_F(CliSimulate, GivenValuesNarrowTheSearchAndTheVerdict) {
  EXPECT_EQ(simulate({"open.json"}).exit_code, 1);
  const Outcome run = simulate({"open.json", "--when", "training=false", "--symbol", "n=2"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.out, "only one value of condition `training`")) << run.out;
  EXPECT_EQ(simulate({"open.json", "--when", "training=true"}).exit_code, 1);
}

TEST_F(CliSimulate, BadValuesAreUsageErrorsThatNameTheOption) {
  const std::vector<Words> bad = {{"--reduction", "slep"},
                                  {"--format", "xml"},
                                  {"--delays", "3..0"},
                                  {"--delays", "x"},
                                  {"--delays", "-1..2"},
                                  {"--delays", "0..9999999999"},
                                  {"--random", "0"},
                                  {"--random", "many"},
                                  {"--timed-runs", "0"},
                                  {"--seed", "-1"},
                                  {"--budget-states", "0"},
                                  {"--budget-seconds", "-1"},
                                  {"--budget-memory", "0"},
                                  {"--max-findings", "0"},
                                  {"--threads", "-1"},
                                  {"--replay"},
                                  {"--witness"},
                                  {"--color", "red"},
                                  {"--replay", "a", "--timed"},
                                  {"--random", "5", "--delays", "1"},
                                  {"--bogus"}};
  for (const Words& words : bad) {
    Words arguments{"unsafe.json"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Outcome run = simulate(arguments);
    EXPECT_EQ(run.exit_code, 2) << words.front();
    EXPECT_TRUE(contains(run.err, words.front())) << run.err;
    EXPECT_EQ(run.out, "");
  }
  EXPECT_EQ(simulate({}).exit_code, 2);
}

TEST_F(CliSimulate, JoinsPartsToTheWholeSearchAndRefusesWhatIsNotAllOfIt) {
  for (const std::string plan : {"safe", "unsafe", "open"}) {
    for (const std::string k : {"1", "2"}) {
      const Outcome part =
          simulate({plan + ".json", "--shard", k + "/2", "--save", plan + k + ".part"});
      EXPECT_NE(part.exit_code, 0);
      EXPECT_TRUE(contains(part.out, "Only part " + k + " of 2 was searched")) << part.out;
    }
    const Outcome whole = simulate({plan + ".json", "--format", "json"});
    const Outcome joined =
        simulate({plan + ".json", "--format", "json", "--join", plan + "2.part", plan + "1.part"});
    EXPECT_EQ(joined.exit_code, whole.exit_code) << joined.err;
    EXPECT_EQ(Json::parse(joined.out)["findings"], Json::parse(whole.out)["findings"]);
  }
  const auto refused = [&](const Words& arguments, const std::string& why) {
    const Outcome outcome = simulate(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_TRUE(contains(outcome.err, why)) << outcome.err;
  };
  refused({"safe.json", "--join", "safe1.part"}, "part 2/2 is missing");
  refused({"safe.json", "--join", "safe1.part", "safe1.part"}, "part 1/2 is there twice");
  refused({"safe.json", "--join", "safe1.part", "unsafe2.part"},
          "unsafe2.part:1:");  // With the place of the other plan's hash.
  refused({"safe.json", "--reduction", "sleep", "--join", "safe1.part", "safe2.part"},
          "this is a part of another search");
  const std::string part = box_.read("safe1.part");
  const std::string end = "\"reaches_end\":true";
  ASSERT_TRUE(contains(part, end));
  box_.write("edited.part",
             std::string(part).replace(part.find(end), end.size(), "\"reaches_end\":false"));
  refused({"safe.json", "--join", "edited.part", "safe2.part"}, "not as it was written");
  box_.write("cut.part", part.substr(0, part.size() / 2));
  refused({"safe.json", "--join", "cut.part"}, "json.syntax");
  refused({"safe.json", "--join", "no.part"}, "no.part");
  refused({"safe.json", "--shard", "1/2"}, "--save");
  refused({"safe.json", "--shard", "3/2", "--save", "x"}, "`3/2` is no shard K/N");
  refused({"safe.json", "--shard", "1/9999", "--save", "x"}, "at most 4096 parts");
  refused({"safe.json", "--shard", "1/2", "--save", "no/such/folder/x"}, "no/such/folder");
  refused({"safe.json", "--shard", "1/2", "--save", "x", "--reduction", "classes"},
          "nothing to share out");
}

TEST_F(CliSimulate, NamesThatThePlanDoesNotHaveAreUsageErrors) {
  for (const Words& words : std::vector<Words>{{"--symbol", "m=2"},
                                               {"--symbol", "n"},
                                               {"--symbol", "n=5"},
                                               {"--symbol", "n=two"},
                                               {"--when", "trainin=true"},
                                               {"--when", "training=1"}}) {
    const Outcome run = simulate({"open.json", words[0], words[1]});
    EXPECT_EQ(run.exit_code, 2) << words[1];
    EXPECT_FALSE(run.err.empty());
  }
}

TEST_F(CliSimulate, OnlyReductionNoneIsExhaustive) {
  const Outcome run = simulate({"safe.json", "--reduction", "classes"});
  EXPECT_TRUE(contains(run.out, ", exhaustive up to reordering\n")) << run.out;
  const Outcome json = simulate({"safe.json", "--reduction", "classes", "--format", "json"});
  const Json stats = Json::parse(json.out)["stats"];
  EXPECT_EQ(stats["reduction"], "classes");
  EXPECT_EQ(stats["complete"], true);
  EXPECT_EQ(stats["exhaustive"], false);
}

TEST_F(CliSimulate, HelpNamesEveryOption) {
  const Outcome run = simulate({"--help"});
  EXPECT_EQ(run.exit_code, 0);
  for (const char* option :
       {"--reduction", "--symbol", "--when", "--max-findings", "--budget-states",
        "--budget-seconds", "--budget-memory", "--threads", "--replay", "--random", "--timed",
        "--delays", "--timed-runs", "--seed", "--witness", "--all", "--format", "--quiet"}) {
    EXPECT_TRUE(contains(run.out, option)) << option;
  }
}

TEST_F(CliSimulate, EngineOfVerify) {
  EXPECT_EQ(box_.run({"safe.json", "--engine", "sim"}).exit_code, 0);
  EXPECT_EQ(box_.run({"unsafe.json", "--engine", "sim"}).exit_code, 1);
}

}  // namespace
}  // namespace memverify::testing
