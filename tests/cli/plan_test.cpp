// `memverify plan` as a user meets it: graphs, tables, and what is refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

/// Two tensors of 64 bytes, the second written after the last read of the first, or not.
std::string graph(const std::string& order, const std::string& pool = R"({"id": "hbm"})") {
  return R"({"memverify": 1, "pools": [)" + pool + R"(],
    "queues": [{"id": "compute"}, {"id": "dma"}],
    "tensors": [{"id": "x", "bytes": 64}, {"id": "y", "bytes": 64}],
    "ops": [{"id": "make_x", "queue": "compute", "writes": ["x"]},
            {"id": "send_x", "queue": "dma", "reads": ["x"], "after": ["make_x"]},
            {"id": "make_y", "queue": "compute", "writes": ["y"])" +
         order + R"(},
            {"id": "use_y", "queue": "compute", "reads": ["y"]}]})";
}

class CliPlan : public ::testing::Test {
 protected:
  std::int64_t peak(const std::string& order) {
    box_.write("graph.json", graph(order));
    const Outcome made = box_.run({"plan", "graph.json", "-o", "plan.json"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(box_.run({"verify", "plan.json"}).exit_code, 0);
    EXPECT_EQ(box_.run({"simulate", "plan.json"}).exit_code, 0);
    const auto plan = nlohmann::json::parse(read_text(box_.path("plan.json")));
    return plan.at("peak_bytes").at("hbm").get<std::int64_t>();
  }
  Sandbox box_;
};

TEST_F(CliPlan, SharesBytesOnlyWhereARunCannotTell) {
  EXPECT_EQ(peak(R"(, "after": ["send_x"])"), 64);
  EXPECT_EQ(peak(""), 128);
}

TEST_F(CliPlan, SaysWhatAPoolLacksAndWritesNothing) {
  box_.write("graph.json", graph("", R"({"id": "hbm", "bytes": 100})"));
  const Outcome made = box_.run({"plan", "graph.json", "-o", "plan.json"});
  EXPECT_EQ(made.exit_code, 1) << made.out;
  EXPECT_TRUE(contains(made.err, "28")) << made.err;
  EXPECT_NE(box_.run({"verify", "plan.json"}).exit_code, 0);
}

TEST_F(CliPlan, RefusesAGraphThatIsUnsafeWhereverItsTensorsLie) {
  box_.write("graph.json", R"({"memverify": 1, "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}, {"id": "r"}], "tensors": [{"id": "x", "bytes": 8}],
    "ops": [{"id": "a", "queue": "q", "writes": ["x"]}, {"id": "b", "queue": "r", "reads": ["x"]}]})");
  const Outcome made = box_.run({"plan", "graph.json", "-o", "plan.json"});
  EXPECT_EQ(made.exit_code, 2);
  EXPECT_TRUE(contains(made.err, "MV102")) << made.err;
}

TEST_F(CliPlan, WritesUnsafePlansOnlyWhenAskedTo) {
  const std::string branches = MEMVERIFY_CORPUS "/graphs/two-branches.json";
  for (const std::string strategy : {"unsafe-program-order", "unsafe-direct-users"}) {
    const std::string out = strategy + ".json";
    const Outcome refused = box_.run({"plan", branches, "--strategy", strategy, "-o", out});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.err, "`" + strategy + "` makes unsafe plans; --allow-unsafe"))
        << refused.err;
    EXPECT_EQ(box_.run({"verify", out}).exit_code, 2) << "nothing may be written";

    const Outcome made =
        box_.run({"plan", branches, "--strategy", strategy, "--allow-unsafe", "-o", out});
    EXPECT_EQ(made.exit_code, 1) << made.err;
    EXPECT_TRUE(contains(made.err, "MV101")) << made.err;
    EXPECT_TRUE(contains(made.err, "the plan is unsafe, and written")) << made.err;
    EXPECT_TRUE(contains(made.out, "less than a safe plan needs")) << made.out;
    for (const char* engine : {"hb", "smt"}) {
      EXPECT_EQ(box_.run({"verify", out, "--engine", engine}).exit_code, 1) << engine;
    }
    EXPECT_EQ(box_.run({"simulate", out}).exit_code, 1);
  }
  box_.write("table.csv", "id,lower,upper,size\na,0,3,4\n");
  const Outcome table = box_.run(
      {"plan", "table.csv", "--strategy", "unsafe-direct-users", "--allow-unsafe", "-o", "no.csv"});
  EXPECT_EQ(table.exit_code, 2);
  EXPECT_TRUE(contains(table.err, "is for graphs, not for tables")) << table.err;
}

TEST_F(CliPlan, ASafePlanOfAnUnsafeStrategyIsNoFault) {
  box_.write("graph.json", graph(R"(, "after": ["send_x"])"));
  const Outcome made = box_.run({"plan", "graph.json", "--strategy", "unsafe-program-order",
                                 "--allow-unsafe", "-o", "plan.json"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.err, "");
}

TEST_F(CliPlan, TheJsonReportSaysWhatTheTextDoes) {
  box_.write("graph.json", graph("", R"({"id": "hbm", "bytes": 1048576})"));
  const auto report = [&](const std::string& strategy) {
    const Outcome made = box_.run({"plan", "graph.json", "--strategy", strategy, "--format", "json",
                                   "--output", "plan.json"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return nlohmann::json::parse(made.out);
  };
  const nlohmann::json made = report("optimal");
  EXPECT_EQ(made.at("memverify"), 1);
  EXPECT_EQ(made.at("strategy"), "optimal");
  EXPECT_EQ(made.at("verdict"), "safe");
  EXPECT_EQ(made.at("tensors"), 2);
  ASSERT_EQ(made.at("pools").size(), 1U);
  const nlohmann::json pool = made.at("pools").at(0);
  EXPECT_EQ(pool.at("pool"), "hbm");
  EXPECT_EQ(pool.at("peak_bytes"), 128);
  EXPECT_EQ(pool.at("capacity"), 1048576);
  EXPECT_EQ(pool.at("bound"), 128);
  EXPECT_EQ(pool.at("optimal"), true);
  EXPECT_EQ(pool.at("total_bytes"), 128);
  EXPECT_EQ(pool.at("largest_live_set"), 128);  // In some run both are alive at once.
  std::int64_t sum = 0;
  for (const nlohmann::json& member : pool.at("bound_members")) {
    const nlohmann::json bytes = member.at("bytes");
    sum += bytes.at(1).get<std::int64_t>() - bytes.at(0).get<std::int64_t>();
  }
  EXPECT_EQ(sum, 128) << "the members are the proof of the bound";
  EXPECT_EQ(pool.at("at_peak").size(), 2U);
  EXPECT_FALSE(pool.contains("allocator"));

  const nlohmann::json blocks = report("size-classes").at("pools").at(0);
  EXPECT_EQ(blocks.at("allocator").at("pool_hits"), 0);
  EXPECT_EQ(blocks.at("allocator").at("system_allocations"), 2);
  EXPECT_EQ(blocks.at("allocator").at("amortised_cost"), 1.0);
}

TEST_F(CliPlan, SizeClassesSayWhatAnAllocatorDoes) {
  box_.write("graph.json", graph(R"(, "after": ["send_x"])"));
  const Outcome made =
      box_.run({"plan", "graph.json", "--strategy", "size-classes", "-o", "plan.json"});
  EXPECT_TRUE(contains(made.out, "1 pool hit, 1 system allocation, 0.50 for each request"))
      << made.out;
  box_.write("both.json", graph(""));  // The second block begins where the first ends.
  const Outcome small = box_.run(
      {"plan", "both.json", "--strategy", "size-classes", "--blocks", "4096,48", "-o", "b.json"});
  EXPECT_TRUE(contains(small.out, "peak 4160 bytes")) << small.out << small.err;
  EXPECT_EQ(box_.run({"plan", "graph.json", "--blocks", "0", "-o", "plan.json"}).exit_code, 2);
  box_.write("table.csv", "id,lower,upper,size\na,0,3,4\nb,3,6,4\nc,0,6,2\n");
  const Outcome table =
      box_.run({"plan", "table.csv", "--strategy", "size-classes", "-o", "out.csv"});
  EXPECT_TRUE(contains(table.out, "1 pool hit, 2 system allocations, 0.67 for each request"))
      << table.out;
}

TEST_F(CliPlan, SaysWhatTheSearchProvedBesideTheBound) {
  const std::string graph = std::string(MEMVERIFY_CORPUS) + "/graphs/four-in-pairs.json";
  const Outcome run = box_.run({"plan", graph, "-o", "plan.json"});
  EXPECT_TRUE(contains(run.out, "peak 256 bytes, which is optimal")) << run.out;
  EXPECT_TRUE(contains(run.out,
                       "no placement needs less than 256 bytes, by search; 128 bytes are "
                       "needed at least, for no two"))
      << run.out;
}

TEST_F(CliPlan, RefusesBadGraphs) {
  const auto refusal = [&](const std::string& text, const std::string& words) {
    box_.write("graph.json", text);
    const Outcome made = box_.run({"plan", "graph.json", "-o", "plan.json"});
    EXPECT_EQ(made.exit_code, 2) << text;
    EXPECT_TRUE(contains(made.err, words)) << made.err;
    EXPECT_NE(box_.run({"verify", "plan.json"}).exit_code, 0) << "nothing may be written";
  };
  const std::string head = R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "q"},
    {"id": "r"}], )";
  refusal(head + R"("tensors": [{"id": "x", "bytes": 8}],
    "ops": [{"id": "a", "queue": "q", "writes": ["x"], "after": ["b"]},
            {"id": "b", "queue": "r", "reads": ["x"], "after": ["a"]}]})",
          "MV111");
  refusal(
      head + R"("tensors": [{"id": "x"}], "ops": [{"id": "a", "queue": "q", "writes": ["x"]}]})",
      "bytes");
  refusal(head + R"("tensors": [{"id": "x", "bytes": 8, "pool": "hbn"}],
    "ops": [{"id": "a", "queue": "q", "writes": ["x"]}]})",
          "hbm");
}

TEST_F(CliPlan, SaysWhichTensorIsLargerThanItsPool) {
  box_.write("graph.json", R"({"memverify": 1, "pools": [{"id": "hbm", "bytes": 16}],
    "queues": [{"id": "q"}], "tensors": [{"id": "x", "bytes": 24}, {"id": "empty", "bytes": 0}],
    "ops": [{"id": "a", "queue": "q", "writes": ["x", "empty"]}]})");
  const Outcome made = box_.run({"plan", "graph.json", "-o", "plan.json"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_TRUE(contains(made.err, "8 missing")) << made.err;
  EXPECT_TRUE(contains(made.err, "`x` alone has 24 bytes")) << made.err;
}

TEST_F(CliPlan, PlacesTheRowsOfATable) {
  box_.write("table.csv", "id,lower,upper,size\na,0,3,4\nb,3,6,4\nc,0,6,2\n");
  const Outcome made =
      box_.run({"plan", "table.csv", "--strategy", "optimal", "--capacity", "6", "-o", "out.csv"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(read_text(box_.path("out.csv")).starts_with("id,lower,upper,size,offset\na,0,3,4,"));
  EXPECT_EQ(box_.run({"plan", "table.csv", "--capacity", "5", "-o", "no.csv"}).exit_code, 1);
  EXPECT_EQ(box_.run({"plan", "table.csv", "--slots", "2", "-o", "no.csv"}).exit_code, 2);
  box_.write("bad.csv", "id,lower,upper,size\na,0,x,4\n");
  const Outcome bad = box_.run({"plan", "bad.csv", "-o", "no.csv"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(contains(bad.err, "bad.csv:2:")) << bad.err;
}

}  // namespace
}  // namespace memverify::testing
