// `memverify [verify] FILE…` as a user meets it: exit codes, formats, options, bad files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

std::string last_line(const std::string& text) {
  if (text.empty() || text.back() != '\n') return "(no end of line)";
  const std::size_t before = text.rfind('\n', text.size() - 2);
  return text.substr(before == std::string::npos ? 0 : before + 1);
}

class CliVerify : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("NO_COLOR");
    box_.write("safe.json", safe_plan());
    box_.write("unsafe.json", unsafe_plan());
    box_.write("unknown.json", unknown_plan());
    box_.write("bad.json", bad_plan());
    box_.write("idle.json", idle_plan());
  }
  Sandbox box_;
};

TEST_F(CliVerify, SafePlanExitsWithZeroAndStatesTheAssumption) {
  const Outcome run = box_.run({"safe.json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(last_line(run.out), "memverify: safe, 1 pair checked, 0 findings\n");
  EXPECT_TRUE(contains(run.out, "visible to everything that starts later")) << run.out;
  EXPECT_EQ(run.err, "");
}

TEST_F(CliVerify, UnsafePlanExitsWithOneAndNamesRuleOpsAndFix) {
  const Outcome run = box_.run({"unsafe.json"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(contains(run.out, "error[MV102]")) << run.out;
  EXPECT_TRUE(contains(run.out, "`make_x`")) << run.out;
  EXPECT_TRUE(contains(run.out, "`send_x`")) << run.out;
  EXPECT_TRUE(contains(run.out, "[0, 64) of pool `hbm`, 64 bytes")) << run.out;
  EXPECT_TRUE(contains(run.out, R"("after": ["make_x"])")) << run.out;
  EXPECT_EQ(last_line(run.out), "memverify: unsafe, 1 pair checked, 1 finding\n");
}

TEST_F(CliVerify, UnknownPlanExitsWithThree) {
  const Outcome run = box_.run({"unknown.json"});
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_TRUE(contains(run.out, "not proven[MV201]")) << run.out;
}

TEST_F(CliVerify, BadPlanExitsWithTwoAndShowsTheLine) {
  const Outcome run = box_.run({"bad.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "memverify: error, 1 error\n");
  EXPECT_TRUE(contains(run.err, "bad.json:10:")) << run.err;
  EXPECT_TRUE(contains(run.err, "reeds")) << run.err;
  EXPECT_TRUE(contains(run.err, "reads")) << run.err;
  EXPECT_TRUE(contains(run.err, "10 |     {\"id\": \"send_x\"")) << run.err;
  EXPECT_TRUE(contains(run.err, "^")) << run.err;
}

TEST_F(CliVerify, PlanInWhichNoOpTouchesAByteIsBadInput) {
  const Outcome run = box_.run({"idle.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "no op touches a byte")) << run.err;
}

TEST_F(CliVerify, UnplacedTensorsAreRefusedByName) {
  box_.write("graph.json", unplaced_plan());
  const Outcome run = box_.run({"graph.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "`x`")) << run.err;
  EXPECT_TRUE(contains(run.err, "memverify plan FILE")) << run.err;
}

TEST_F(CliVerify, MissingFileIsBadInput) {
  const Outcome run = box_.run({"absent.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "absent.json")) << run.err;
}

TEST_F(CliVerify, FolderIsBadInput) { EXPECT_EQ(box_.run({"/"}).exit_code, 2); }

TEST_F(CliVerify, TruncatedFileIsBadInput) {
  const std::string plan = safe_plan();
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, plan.size() / 2, plan.size() - 3}) {
    box_.write("cut.json", plan.substr(0, length));
    EXPECT_EQ(box_.run({"cut.json"}).exit_code, 2) << length;
  }
}

TEST_F(CliVerify, SubcommandMayBeNamed) {
  EXPECT_EQ(box_.run({"verify", "unsafe.json"}).out, box_.run({"unsafe.json"}).out);
}

TEST_F(CliVerify, OptionsMayComeBeforeTheFile) {
  EXPECT_EQ(box_.run({"--quiet", "safe.json"}).exit_code, 0);
}

TEST_F(CliVerify, FileNamedLikeACommandNeedsAPath) {
  box_.write("verify", unsafe_plan());
  EXPECT_EQ(box_.run({"verify"}).exit_code, 2);
  EXPECT_EQ(box_.run({"./verify"}).exit_code, 1);
  EXPECT_EQ(box_.run({"verify", "verify"}).exit_code, 1);
}

TEST_F(CliVerify, StandardInputIsADash) {
  EXPECT_EQ(box_.run({"-"}, unsafe_plan()).exit_code, 1);
  EXPECT_EQ(box_.run({"verify", "-"}, safe_plan()).exit_code, 0);
  EXPECT_EQ(box_.run({"-"}, "{").exit_code, 2);
  EXPECT_EQ(box_.run({"-", "-"}, safe_plan()).exit_code, 2);
}

TEST_F(CliVerify, SeveralFilesGiveALineEachAndASummary) {
  const Outcome run = box_.run({"safe.json", "unsafe.json", "bad.json", "unknown.json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out,
            "safe.json: safe, 1 pair checked, 0 findings\n"
            "unsafe.json: unsafe, 1 pair checked, 1 finding\n"
            "bad.json: error, 1 error\n" +
                run.out.substr(std::min(run.out.size(), run.out.find("unknown.json: "))));
  EXPECT_EQ(last_line(run.out), "memverify: 4 files: 1 unsafe, 1 error, 1 unknown, 1 safe\n");
}

TEST_F(CliVerify, WorstOfSeveralFilesDecidesTheExitCode) {
  EXPECT_EQ(box_.run({"safe.json", "safe.json"}).exit_code, 0);
  EXPECT_EQ(box_.run({"safe.json", "unknown.json"}).exit_code, 3);
  EXPECT_EQ(box_.run({"bad.json", "unknown.json"}).exit_code, 2);
  EXPECT_EQ(box_.run({"unknown.json", "unsafe.json", "bad.json"}).exit_code, 1);
}

TEST_F(CliVerify, QuietPrintsOnlyTheLastLine) {
  EXPECT_EQ(box_.run({"--quiet", "unsafe.json"}).out,
            "memverify: unsafe, 1 pair checked, 1 finding\n");
  EXPECT_EQ(box_.run({"-q", "safe.json"}).out, "memverify: safe, 1 pair checked, 0 findings\n");
}

TEST_F(CliVerify, JsonHasTheDocumentedFields) {
  const Outcome run = box_.run({"unsafe.json", "--format", "json"});
  EXPECT_EQ(run.exit_code, 1);
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["memverify"], 1);
  EXPECT_EQ(json["plan"], "racy");
  EXPECT_EQ(json["file"], "unsafe.json");
  EXPECT_EQ(json["verdict"], "unsafe");
  EXPECT_EQ(json["engines"], (Json{{"hb", "unsafe"}}));
  EXPECT_EQ(json["stats"]["pairs_checked"], 1);
  ASSERT_EQ(json["findings"].size(), 1U);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["rule"], "MV102");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["ops"], (Json{"make_x", "send_x"}));
  EXPECT_EQ(finding["tensors"], (Json{"x", "x"}));
  EXPECT_EQ(finding["pool"], "hbm");
  EXPECT_EQ(finding["bytes"], (Json{0, 64}));
  EXPECT_EQ(finding["alias_chain"], Json::array({"x"}));
  EXPECT_EQ(finding["iteration"], (Json{0, 0}));
  EXPECT_EQ(finding["when"], Json::object());
  EXPECT_EQ(finding["symbols"], Json::object());
  EXPECT_FALSE(finding["message"].get<std::string>().empty());
  EXPECT_FALSE(finding["help"].get<std::string>().empty());
  ASSERT_EQ(finding["witness"].size(), 2U);
  EXPECT_EQ(finding["witness"][0]["at"], "start");
}

TEST_F(CliVerify, JsonOfSeveralFilesIsAnObjectALine) {
  const Outcome run = box_.run({"safe.json", "bad.json", "unsafe.json", "--format=json"});
  EXPECT_EQ(run.exit_code, 1);
  std::istringstream lines(run.out);
  std::vector<std::string> verdicts;
  for (std::string line; std::getline(lines, line);) {
    verdicts.push_back(Json::parse(line)["verdict"]);
  }
  EXPECT_EQ(verdicts, (Words{"safe", "error", "unsafe"}));
}

TEST_F(CliVerify, JsonOfABadPlanHoldsTheErrors) {
  const Outcome run = box_.run({"bad.json", "--format", "json"});
  EXPECT_EQ(run.exit_code, 2);
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["verdict"], "error");
  ASSERT_EQ(json["errors"].size(), 1U);
  EXPECT_EQ(json["errors"][0]["file"], "bad.json");
  EXPECT_EQ(json["errors"][0]["line"], 10);
  EXPECT_EQ(json["errors"][0]["pointer"], "/ops/1/reeds");
  EXPECT_FALSE(json["errors"][0]["id"].get<std::string>().empty());
}

TEST_F(CliVerify, NamesThatAreNoUtf8DoNotBreakTheReport) {
  box_.write("latin1.json",
             two_op_plan("na\xefve", R"({"id": "s\u001b", "queue": "dma", "reads": ["x"]})"));
  const Outcome run = box_.run({"latin1.json", "--format", "json"});
  EXPECT_TRUE(run.exit_code == 1 || run.exit_code == 2) << run.exit_code;
  EXPECT_TRUE(Json::accept(run.out)) << run.out;
  EXPECT_FALSE(contains(box_.run({"latin1.json"}).out, "\x1b"));
}

TEST_F(CliVerify, MaxFindingsStopsAndSaysSo) {
  box_.write("three.json", two_op_plan("three", R"({"id": "a", "queue": "dma", "reads": ["x"]},
    {"id": "b", "queue": "dma", "reads": ["x"]}, {"id": "c", "queue": "dma", "reads": ["x"]})"));
  const Json all = Json::parse(box_.run({"three.json", "--format", "json"}).out);
  EXPECT_EQ(all["findings"].size(), 3U);
  EXPECT_FALSE(all.contains("stopped_at_max_findings"));
  const Json two =
      Json::parse(box_.run({"three.json", "--format", "json", "--max-findings", "2"}).out);
  EXPECT_EQ(two["findings"].size(), 2U);
  EXPECT_EQ(two["stopped_at_max_findings"], true);
  EXPECT_EQ(two["verdict"], "unsafe");
}

TEST_F(CliVerify, WarningsDoNotTakeThePlaceOfErrors) {
  box_.write("both.json", R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}, {"id": "r"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 64},
                 {"id": "t", "pool": "hbm", "offset": 0, "bytes": 64},
                 {"id": "u", "pool": "hbm", "offset": 64, "bytes": 64}],
    "tensors": [{"id": "x", "storage": "s", "bytes": 64}, {"id": "y", "storage": "t", "bytes": 64},
                {"id": "z", "storage": "u", "bytes": 64}],
    "inputs": ["x", "y"],
    "ops": [{"id": "a", "queue": "q", "reads": ["x"], "writes": ["z"]},
            {"id": "b", "queue": "r", "reads": ["y"], "writes": ["z"]}]})");
  const Outcome run = box_.run({"both.json", "--max-findings", "1"});
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_TRUE(contains(run.out, "error[MV103]")) << run.out;
}

TEST_F(CliVerify, ColorsOnlyWhereTheyAreWanted) {
  const std::string escape = "\x1b[";
  EXPECT_FALSE(contains(box_.run({"unsafe.json"}).out, escape));
  EXPECT_FALSE(contains(box_.run({"unsafe.json", "--color", "auto"}).out, escape));
  EXPECT_FALSE(contains(box_.run({"unsafe.json", "--color=never"}).out, escape));
  EXPECT_TRUE(contains(box_.run({"unsafe.json", "--color", "always"}).out, escape + "1;31merror"));
  EXPECT_TRUE(contains(box_.run({"bad.json", "--color", "always"}).err, escape));
  setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(contains(box_.run({"unsafe.json", "--color", "always"}).out, escape));
  unsetenv("NO_COLOR");
}

TEST_F(CliVerify, EngineIsChosenByName) {
  EXPECT_EQ(box_.run({"unsafe.json", "--engine", "hb"}).exit_code, 1);
  EXPECT_EQ(box_.run({"unsafe.json", "--engine", "auto"}).exit_code, 1);
  const Outcome wrong = box_.run({"unsafe.json", "--engine", "bh"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "hb")) << wrong.err;
}

TEST_F(CliVerify, LastOfARepeatedOptionCounts) {
  const Outcome run = box_.run({"safe.json", "--format", "json", "--format", "text"});
  EXPECT_EQ(last_line(run.out), "memverify: safe, 1 pair checked, 0 findings\n");
}

TEST_F(CliVerify, FullDiskIsSaid) {
  const Outcome run = box_.run({"safe.json"}, "", "/dev/full");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "cannot write to standard output")) << run.err;
}

TEST_F(CliVerify, ReaderThatGoesAwayIsNoFailure) {
  const Outcome run = box_.run_shell("{ MEMVERIFY unsafe.json; echo $? >code; } | :; cat code");
  EXPECT_EQ(run.out, "1\n");
  EXPECT_EQ(run.err, "");
}

TEST_F(CliVerify, ClosedOutputIsSaid) {
  const Outcome run = box_.run_shell("MEMVERIFY safe.json >&-");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "cannot write to standard output")) << run.err;
}

TEST_F(CliVerify, AutoAsksAnotherEngineWhereTheFirstGivesUp) {
  box_.write("two_semaphores.json", R"({"memverify": 1, "pools": [{"id": "p"}],
    "queues": [{"id": "q"}, {"id": "r"}],
    "semaphores": [{"id": "m", "initial": 2}, {"id": "n", "initial": 2}],
    "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8}],
    "tensors": [{"id": "x", "storage": "s", "bytes": 8}],
    "ops": [{"id": "a", "queue": "q", "writes": ["x"], "waits": [
              {"semaphore": "m", "consume": true}, {"semaphore": "n", "consume": true}]},
            {"id": "b", "queue": "r", "writes": ["x"], "waits": [
              {"semaphore": "m", "consume": true}, {"semaphore": "n", "consume": true}]}]})");
  const Outcome run = box_.run({"two_semaphores.json"});
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_TRUE(contains(run.out, "note: decided by ")) << run.out;
  EXPECT_TRUE(contains(run.out, "(hb: unknown")) << run.out;
}

TEST_F(CliVerify, AllEnginesAreNamedWithTheirVerdicts) {
  const Outcome run = box_.run({"safe.json", "--engine", "all", "--format", "json"});
  EXPECT_EQ(run.exit_code, 0);
  const Json engines = Json::parse(run.out)["engines"];
  EXPECT_EQ(engines["hb"], "safe");
  EXPECT_EQ(engines["sim"], "safe");
}

/// What a solver says of the question about `plan`, the first line of its output.
std::string asked(const Sandbox& box, const std::string& solver, const std::string& plan) {
  const Outcome run = box.run_shell("MEMVERIFY verify " + plan +
                                    " -q --dump-smt2 q.smt2 > /dev/null; " + solver + " q.smt2");
  return run.out.substr(0, run.out.find('\n'));
}

TEST_F(CliVerify, DumpedQuestionIsAnsweredAlikeByOtherSolvers) {
  const auto two_takers = [&](const std::string& initial) {
    return R"({"memverify": 1, "conditions": ["c"], "pools": [{"id": "p"}],
      "queues": [{"id": "q", "order": "none"}],
      "semaphores": [{"id": "n", "initial": )" +
           initial + R"(}],
      "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8}],
      "tensors": [{"id": "x", "storage": "s", "offset": 0, "bytes": 8}],
      "ops": [{"id": "a", "queue": "q", "writes": ["x"], "when": {"c": true},
               "waits": [{"semaphore": "n", "consume": true}], "signals": [{"semaphore": "n"}]},
              {"id": "b", "queue": "q", "writes": ["x"],
               "waits": [{"semaphore": "n", "consume": true}], "signals": [{"semaphore": "n"}]}]})";
  };
  box_.write("lock.json", two_takers("1"));
  box_.write("two.json", two_takers("2"));
  for (const std::string solver : {"z3", "cvc5"}) {
    EXPECT_EQ(asked(box_, solver, "safe.json"), "unsat") << solver;
    EXPECT_EQ(asked(box_, solver, "unsafe.json"), "sat") << solver;
    EXPECT_EQ(asked(box_, solver, "unknown.json"), "sat") << solver;
    EXPECT_EQ(asked(box_, solver, "lock.json"), "unsat") << solver;
    EXPECT_EQ(asked(box_, solver, "two.json"), "sat") << solver;
  }
}

TEST_F(CliVerify, TimedSaysWhatHoldsUnderTheStatedDurationsAlone) {
  const auto plan = [](const std::string& duration) {
    return R"({"memverify": 1, "pools": [{"id": "p"}],
      "queues": [{"id": "q"}, {"id": "late", "delay": [5, 9]}],
      "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8}],
      "tensors": [{"id": "x", "storage": "s", "offset": 0, "bytes": 8}],
      "ops": [{"id": "a", "queue": "q", "writes": ["x"], "duration": )" +
           duration + R"(},
              {"id": "b", "queue": "late", "reads": ["x"]}]})";
  };
  box_.write("quick.json", plan("[1, 5]"));
  box_.write("slow.json", plan("[1, 7]"));
  const Outcome quick = box_.run({"quick.json", "--timed"});
  EXPECT_EQ(quick.exit_code, 1) << quick.err;
  EXPECT_TRUE(
      contains(quick.out, "safe under the stated durations and delays, though not in general\n"))
      << quick.out;
  const Outcome slow = box_.run({"slow.json", "--timed"});
  EXPECT_TRUE(contains(slow.out,
                       "unsafe under the stated durations and delays, too: `a` and `b`, "
                       "with `a` takes 6 ticks"))
      << slow.out;
  const Json json = Json::parse(box_.run({"safe.json", "--timed", "--format", "json"}).out);
  EXPECT_EQ(json["timed"]["verdict"], "safe");
}

TEST_F(CliVerify, DumpingNeedsOnePlanAndAPlaceToWrite) {
  EXPECT_EQ(box_.run({"safe.json", "unsafe.json", "--dump-smt2", "q.smt2"}).exit_code, 2);
  const Outcome run = box_.run({"safe.json", "--dump-smt2", "no/such/folder/q.smt2"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "no/such/folder")) << run.err;
}

TEST_F(CliVerify, TheSolverFindsWhatTheClocksFind) {
  EXPECT_EQ(box_.run({"safe.json", "--engine", "smt"}).exit_code, 0);
  const Outcome run = box_.run({"unsafe.json", "--engine", "smt"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(contains(run.out, "error[MV102]")) << run.out;
  EXPECT_EQ(box_.run({"unknown.json", "--engine", "smt"}).exit_code, 3);
}

}  // namespace
}  // namespace memverify::testing
