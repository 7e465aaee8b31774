// `memverify explain PLAN --…`, `repair` and `tradeoff` as a user meets them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kCorpus = MEMVERIFY_CORPUS;

TEST(CliExplainPlan, ShowsTheReaderThatHoldsAStorageInEachFormat) {
  const Sandbox box;
  const std::string plan = kCorpus + "/readme/two_branches.unsafe.json";
  const Outcome text = box.run({"explain", plan, "--storage", "s_a"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "last to let go: `use_a`")) << text.out;
  EXPECT_TRUE(contains(text.out, "does not wait for it")) << text.out;
  EXPECT_TRUE(contains(text.out, "it reads through 3 views")) << text.out;
  const Json json =
      Json::parse(box.run({"explain", plan, "--storage", "s_a", "--format", "json"}).out);
  const Json& view = json["storages"][0];
  EXPECT_EQ(view["uses"][view["blocker"].get<std::size_t>()]["op"], "use_a");
  EXPECT_EQ(view["causes"][0]["kind"], "view chain");
  EXPECT_EQ(view["causes"][0]["amount"], 3);
  const Outcome dot = box.run({"explain", plan, "--op", "use_a", "--format", "dot"});
  EXPECT_EQ(dot.out.rfind("digraph memverify {", 0), 0U) << dot.out;
  EXPECT_TRUE(contains(dot.out, "does not wait")) << dot.out;
  EXPECT_TRUE(contains(box.run({"explain", plan, "--peak"}).out, "held at once")) << "peak";
  EXPECT_TRUE(contains(box.run({"explain", plan, "--tensor", "a_t"}).out, "`use_a`")) << "tensor";
}

TEST(CliExplainPlan, SaysWhatAnOpTouchesAndWhetherThePlanIsSafe) {
  Sandbox box;
  box.write("plan.json", R"({"memverify": 1, "iterations": 2, "pools": [{"id": "p"}],
    "queues": [{"id": "a"}, {"id": "b"}],
    "storages": [{"id": "s", "pool": "p", "offset": [0, 64], "bytes": 64}],
    "tensors": [{"id": "x", "storage": "s", "bytes": 64}],
    "ops": [{"id": "make", "queue": "a", "writes": ["x"]},
            {"id": "rec", "kind": "record", "queue": "a", "event": "e"},
            {"id": "clob", "queue": "b", "clobbers": [{"pool": "p", "offset": 0, "bytes": 32}]}]})");
  const Outcome clobber = box.run({"explain", "plan.json", "--op", "clob"});
  EXPECT_TRUE(contains(clobber.out,
                       "next: `clob` of iteration 0 (queue `b`) clobbers [0, 32): "
                       "does not wait for it"))
      << clobber.out;
  EXPECT_TRUE(contains(clobber.out, "memverify: the plan is unsafe (MV103)")) << clobber.out;
  const Outcome record = box.run({"explain", "plan.json", "--op", "rec"});
  EXPECT_TRUE(contains(record.out, "`rec` only orders commands: it uses no byte")) << record.out;
  const Outcome peak =
      box.run({"explain", kCorpus + "/bugs/b62-ping-pong-index-reset.unsafe.json", "--peak"});
  EXPECT_TRUE(contains(peak.out, "in 3 storages, 4 counting each iteration's own")) << peak.out;
  const Json json =
      Json::parse(box.run({"explain", "plan.json", "--op", "make", "--format", "json"}).out);
  EXPECT_EQ(json["verdict"], "unsafe");
}

TEST(CliExplainPlan, TakesTheGreatestSymbolValuesAndSaysSoFirst) {
  Sandbox box;
  const auto plan = [](const std::string& seq) {
    return R"({"memverify": 1, "pools": [{"id": "p"}], "queues": [{"id": "q"}],
      "symbols": {"seq": )" +
           seq + R"(}, "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": "seq*64"}],
      "tensors": [{"id": "x", "storage": "s", "bytes": "seq*64"}],
      "ops": [{"id": "make", "queue": "q", "writes": ["x"]}]})";
  };
  box.write("plan.json", plan(R"({"min": 1, "max": 1023, "multiple_of": 2})"));
  box.write("open.json", plan(R"({"min": 3})"));
  const auto first_line = [&](const Words& arguments) {
    const std::string out = box.run(arguments).out;
    return out.substr(0, out.find('\n'));
  };
  EXPECT_EQ(
      first_line({"explain", "plan.json", "--peak"}),
      "pool `p`, for `seq` = 1022: 65408 bytes up to its highest storage; at most 65408 bytes "
      "held at once, at tick 0, in 1 storage");
  EXPECT_TRUE(contains(first_line({"explain", "plan.json", "--op", "make"}),
                       "storage `s` at [0, 65408) of pool `p`, for `seq` = 1022, held"));
  EXPECT_TRUE(contains(first_line({"explain", "open.json", "--storage", "s"}),
                       "[0, 192) of pool `p`, for `seq` = 3 (which has no \"max\"), held"));
  const Words as_json = {"explain", "plan.json", "--peak", "--format", "json"};
  EXPECT_EQ(Json::parse(box.run(as_json).out)["symbols"]["seq"], 1022);
}

TEST(CliExplainPlan, HoldsNothingForWhatADeadlockKeepsFromStarting) {
  Sandbox box;
  box.write("plan.json", R"({"memverify": 1, "pools": [{"id": "p"}],
    "queues": [{"id": "q"}, {"id": "r"}],
    "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 64}],
    "tensors": [{"id": "x", "storage": "s", "bytes": 64}],
    "ops": [{"id": "a", "queue": "q", "writes": ["x"], "after": ["b"]},
            {"id": "b", "queue": "r", "reads": ["x"], "after": ["a"]}]})");
  const Outcome peak = box.run({"explain", "plan.json", "--peak"});
  EXPECT_EQ(peak.out.rfind("nothing is held: the plan deadlocks", 0), 0U) << peak.out;
  const Outcome op = box.run({"explain", "plan.json", "--op", "a"});
  EXPECT_TRUE(contains(op.out, "pool `p`, never held: the plan deadlocks before")) << op.out;
  EXPECT_TRUE(contains(op.out, "writes 64 bytes, never: the plan deadlocks before")) << op.out;
  EXPECT_TRUE(contains(op.out, "no use of it completes")) << op.out;
}

TEST(CliExplainPlan, RefusesWhatMakesNoSense) {
  Sandbox box;
  box.write("plan.json", safe_plan());
  box.write("bad.json", bad_plan());
  for (const Words& words :
       {Words{"explain", "plan.json"}, Words{"explain", "plan.json", "--storage", "sss"},
        Words{"explain", "plan.json", "--storage", "s", "--peak"},
        Words{"explain", "--storage", "s"}, Words{"explain", "plan.json", "--pool", "hbm"},
        Words{"explain", "plan.json", "--storage", "s", "--iteration", "7"},
        Words{"explain", "bad.json", "--peak"}, Words{"explain", "absent.json", "--peak"}}) {
    const Outcome run = box.run(words);
    EXPECT_EQ(run.exit_code, 2) << ::testing::PrintToString(words) << run.out;
    EXPECT_NE(run.err, "") << ::testing::PrintToString(words);
  }
  EXPECT_TRUE(contains(box.run({"explain", "plan.json"}).err, "--storage"));
}

TEST(CliRepair, WritesAPlanThatIsSafe) {
  Sandbox box;
  box.write("plan.json", unsafe_plan());
  const Json offers = Json::parse(box.run({"repair", "plan.json", "--format", "json"}).out);
  ASSERT_FALSE(offers["repairs"].empty());
  EXPECT_EQ(offers["repairs"][0]["kind"], "wait");
  EXPECT_EQ(offers["repairs"][0]["added_waits"], 1);
  EXPECT_EQ(offers["repairs"][0]["exact"], true);
  EXPECT_EQ(offers["price"]["peak_bytes"]["hbm"], 64);
  EXPECT_TRUE(offers["none"].contains("move")) << offers;
  box.write("patched.json", Json::parse(unsafe_plan()).patch(offers["repairs"][0]["patch"]).dump());
  EXPECT_EQ(box.run({"patched.json"}).exit_code, 0) << offers;
  const Outcome run = box.run({"repair", "plan.json", "--apply", "1", "-o", "fixed.json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "1. wait: `send_x` waits for `make_x`")) << run.out;
  EXPECT_EQ(box.run({"fixed.json"}).exit_code, 0) << box.read("fixed.json");
  const Outcome piped = box.run({"repair", "-", "--apply", "1", "-o", "-"}, unsafe_plan());
  EXPECT_EQ(piped.out, box.read("fixed.json"));
}

TEST(CliRepair, PatchesOfEachKindMakeThePlansOfTheOffers) {
  Sandbox box;
  std::set<std::string> kinds;
  for (const std::string name : {"bugs/b60-workspace-keyed-by-stream", "readme/two_branches"}) {
    const std::string file = kCorpus + "/" + name + ".unsafe.json";
    const Json offers = Json::parse(box.run({"repair", file, "--format", "json"}).out);
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    for (const Json& offer : offers["repairs"]) {
      ASSERT_TRUE(offer.contains("patch")) << offer;
      kinds.insert(offer["kind"]);
      box.write("patched.json", Json::parse(text.str()).patch(offer["patch"]).dump());
      EXPECT_EQ(box.run({"patched.json"}).exit_code, 0) << offer;
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"wait", "move", "order", "copy"}));
}

TEST(CliRepair, SaysWhichIterationsTheMakespanIsOfAndWhoIsSubmittedLater) {
  Sandbox box;
  box.write("loop.json", R"({"memverify": 1, "iterations": "unbounded", "pools": [{"id": "p"}],
    "queues": [{"id": "a"}, {"id": "b"}],
    "storages": [{"id": "s", "pool": "p", "offset": [0, 64], "bytes": 64}],
    "tensors": [{"id": "x", "storage": "s", "bytes": 64}],
    "ops": [{"id": "make", "queue": "a", "writes": ["x"], "signals": [{"event": "made"}]},
            {"id": "use", "queue": "b", "reads": ["x"], "waits": [{"event": "made"}]}]})");
  const Outcome loop = box.run({"repair", "loop.json"});
  EXPECT_TRUE(contains(loop.out, " ticks of the first ")) << loop.out;
  box.write("late.json", R"({"memverify": 1, "pools": [{"id": "p"}],
    "queues": [{"id": "a"}, {"id": "b"}],
    "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 64}],
    "tensors": [{"id": "x", "storage": "s", "bytes": 64}],
    "ops": [{"id": "make", "queue": "a", "writes": ["x"]},
            {"id": "spoil", "queue": "b", "clobbers": [{"pool": "p", "offset": 0, "bytes": 32}],
             "after": ["make"]},
            {"id": "use", "queue": "a", "reads": ["x"]}]})");
  const Outcome late = box.run({"repair", "late.json"});
  EXPECT_TRUE(contains(late.out, "`spoil` waits for `use`, which is submitted later")) << late.out;
  EXPECT_TRUE(contains(late.out, "move: storage `s`")) << late.out;
  EXPECT_FALSE(contains(late.out, "not enough")) << late.out;
}

TEST(CliRepair, ExitCodes) {
  Sandbox box;
  box.write("safe.json", safe_plan());
  box.write("unsafe.json", unsafe_plan());
  box.write("unknown.json", unknown_plan());
  box.write("bad.json", bad_plan());
  box.write("hopeless.json", two_op_plan("hopeless", R"({"id": "u", "kind": "wait", "queue": "dma",
    "event": "never", "after": ["make_x", "z"]}, {"id": "z", "queue": "dma", "reads": ["x"],
    "after": ["u"]})"));
  EXPECT_EQ(box.run({"repair", "safe.json"}).exit_code, 0);
  EXPECT_EQ(box.run({"repair", "unsafe.json"}).exit_code, 1);
  const Outcome hopeless = box.run({"repair", "hopeless.json"});
  EXPECT_EQ(hopeless.exit_code, 1) << hopeless.out;
  EXPECT_TRUE(contains(hopeless.out, "no wait: one more wait ends no deadlock")) << hopeless.out;
  EXPECT_TRUE(contains(hopeless.out, "see the help of the findings")) << hopeless.out;
  EXPECT_EQ(box.run({"repair", "unknown.json"}).exit_code, 3);
  for (const Words& words :
       {Words{"repair"}, Words{"repair", "bad.json"},
        Words{"repair", "unsafe.json", "--apply", "1"},
        Words{"repair", "unsafe.json", "-o", "x.json"},
        Words{"repair", "unsafe.json", "--apply", "99", "-o", "x.json"},
        Words{"repair", "unsafe.json", "--apply", "1", "-o", "/no/such/folder/x.json"}}) {
    const Outcome run = box.run(words);
    EXPECT_EQ(run.exit_code, 2) << ::testing::PrintToString(words) << run.out;
    EXPECT_NE(run.err, "") << ::testing::PrintToString(words);
  }
}

TEST(CliTradeoff, PrintsTheCurveOrRefuses) {
  Sandbox box;
  const std::string graph = kCorpus + "/graphs/fixed-offsets-cost.json";
  const Outcome text = box.run({"tradeoff", graph, "--max-waits", "2"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "0 waits: 192 bytes, makespan 3 ticks")) << text.out;
  EXPECT_TRUE(contains(
      text.out,
      "1 wait: 128 bytes, makespan 3 ticks\n    `write_b` waits for "
      "`read_a_2`, which is submitted later\n    a barrier over all queues before `write_b` in "
      "their place: 128 bytes, makespan 4 ticks, 1 tick more"))
      << text.out;
  const Json curve = Json::parse(box.run({"tradeoff", graph, "--format", "json"}).out)["curve"];
  EXPECT_EQ(curve[0]["peak_bytes"], 192);
  EXPECT_EQ(curve[1]["peak_bytes"], 128);
  EXPECT_EQ(curve[1]["added"][0]["op"], "write_b");
  box.write("one.json", R"({"memverify": 1, "pools": [{"id": "p"}], "queues": [{"id": "q"}],
    "tensors": [{"id": "x", "bytes": 64}], "ops": [{"id": "w", "queue": "q", "writes": ["x"]}]})");
  const Outcome one = box.run({"tradeoff", "one.json"});
  EXPECT_TRUE(contains(one.out, "memverify: 64 bytes without a wait; 1 placement, exact"))
      << one.out;
  const Outcome many = box.run({"tradeoff", graph, "--max-orders", "3"});
  EXPECT_EQ(many.exit_code, 3);
  EXPECT_TRUE(contains(many.err, "--max-waits")) << many.err;
  box.write("bad.json", bad_plan());
  box.write("racy.json", unsafe_plan());
  EXPECT_EQ(box.run({"tradeoff", "bad.json"}).exit_code, 2);
  EXPECT_EQ(box.run({"tradeoff", "racy.json"}).exit_code, 2);
  EXPECT_EQ(box.run({"tradeoff"}).exit_code, 2);
}

TEST(CliRepair, SaysOfAVerdictWhichOneWaitEndsSeveralFindings) {
  Sandbox box;
  box.write("plan.json", two_op_plan("two", R"({"id": "u", "queue": "dma", "reads": ["x"]},
                                              {"id": "v", "queue": "dma", "reads": ["x"]})"));
  const Outcome run = box.run({"plan.json"});
  EXPECT_TRUE(contains(run.out, "2 findings")) << run.out;
  EXPECT_TRUE(
      contains(run.out, R"(note: one wait makes the plan safe: add "after": ["make_x"] to `u`)"))
      << run.out;
}

}  // namespace
}  // namespace memverify::testing
