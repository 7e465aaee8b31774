// `memverify plan --buckets` and `--lookup`: plans for ranges of symbol values, kept in a file.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

/// x of 2 * seq bytes and y of batch bytes, both alive at once.
std::string symbolic_graph(const std::string& pool = R"({"id": "hbm"})",
                           const std::string& alignment = "1", const std::string& dtype = "u8") {
  return R"({"memverify": 1, "pools": [)" + pool + R"(], "queues": [{"id": "q"}],
    "symbols": {"seq": {"min": 1, "max": 400, "multiple_of": 4}, "batch": {"min": 1, "max": 8}},
    "tensors": [{"id": "x", "bytes": "2*seq", "alignment": )" +
         alignment + R"(}, {"id": "y", "dtype": ")" + dtype + R"(", "shape": ["batch"]}],
    "ops": [{"id": "make", "queue": "q", "writes": ["x", "y"]},
            {"id": "use", "queue": "q", "reads": ["x", "y"]}]})";
}

class CliPlanBuckets : public ::testing::Test {
 protected:
  void SetUp() override { box_.write("graph.json", symbolic_graph()); }

  Outcome run(std::vector<std::string> more) {
    std::vector<std::string> command = {"plan", "graph.json"};
    command.insert(command.end(), more.begin(), more.end());
    return box_.run(command);
  }
  Outcome make(std::vector<std::string> more = {"--buckets", "seq=128,256"}) {
    more.insert(more.end(), {"-o", "plans.json", "--format", "json"});
    return run(more);
  }
  /// How many of the buckets came from the file; -1: the command failed.
  std::int64_t taken(const Outcome& made) {
    if (made.exit_code != 0) return -1;
    std::int64_t count = 0;
    const auto report = nlohmann::json::parse(made.out);
    for (const auto& bucket : report["buckets"]) {
      count += bucket["cached"].get<bool>() ? 1 : 0;
    }
    return count;
  }
  Outcome look_up(const std::string& seq) {
    return run({"--lookup", "plans.json", "--values", "seq=" + seq, "-o", "plan.json"});
  }
  nlohmann::json written(const std::string& name) {
    return nlohmann::json::parse(read_text(box_.path(name)));
  }
  void change_cache(const std::string& from, const std::string& to) {
    std::string text = read_text(box_.path("plans.json"));
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    box_.write("plans.json", text.replace(at, from.size(), to));
  }
  Sandbox box_;
};

TEST_F(CliPlanBuckets, PlansEachBucketAndTheLargest) {
  const Outcome made = make();
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto buckets = nlohmann::json::parse(made.out)["buckets"];
  ASSERT_EQ(buckets.size(), 3U);
  const std::int64_t values[] = {128, 256, 400};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(buckets[k]["bucket"]["seq"], values[k]);
    EXPECT_EQ(buckets[k]["peak_bytes"]["hbm"], 2 * values[k] + 8);
    EXPECT_EQ(written("plans.json")["entries"][k]["plan"]["symbols"]["seq"]["max"], values[k]);
  }
}

TEST_F(CliPlanBuckets, SeveralSymbolsGiveTheProduct) {
  const Outcome made = make({"--buckets", "seq=128,256", "--buckets", "batch=4"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(nlohmann::json::parse(made.out)["buckets"].size(), 6U);
  const Outcome found = run(
      {"--lookup", "plans.json", "--values", "seq=200", "--values", "batch=3", "-o", "plan.json"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(written("plan.json")["peak_bytes"]["hbm"], 2 * 256 + 4);
  EXPECT_EQ(look_up("200").exit_code, 2) << "batch has no value";
}

TEST_F(CliPlanBuckets, ASecondRunTakesThePlansFromTheFile) {
  EXPECT_EQ(taken(make()), 0);
  EXPECT_EQ(taken(make()), 3);
  EXPECT_EQ(taken(make({"--buckets", "seq=64,128,256"})), 3) << "one more is planned";
  EXPECT_EQ(written("plans.json")["entries"].size(), 4U);
}

TEST_F(CliPlanBuckets, WhateverChangesALayoutMakesTheFileStale) {
  ASSERT_EQ(taken(make()), 0);
  const std::vector<std::vector<std::string>> options = {{"--strategy", "by-size"},
                                                         {"--capacity", "2000"},
                                                         {"--seconds", "3"},
                                                         {"--pool", "hbm"},
                                                         {"--blocks", "64"}};
  for (std::vector<std::string> more : options) {
    more.insert(more.end(), {"--buckets", "seq=128,256"});
    const Outcome made = make(more);
    EXPECT_EQ(taken(made), 0) << more.front();
    EXPECT_TRUE(contains(made.out, "is stale: it was made with")) << made.out;
    EXPECT_EQ(taken(make(more)), 3);
  }
  const std::string changed[] = {symbolic_graph(R"({"id": "hbm", "alignment": 64})"),
                                 symbolic_graph(R"({"id": "hbm"})", "16"),
                                 symbolic_graph(R"({"id": "hbm"})", "1", "f32")};
  for (const std::string& graph : changed) {
    box_.write("graph.json", graph);
    EXPECT_EQ(look_up("100").exit_code, 2);
    EXPECT_TRUE(contains(look_up("100").err, "stale: it is of another graph"));
    EXPECT_EQ(taken(make()), 0) << graph;
    EXPECT_EQ(look_up("100").exit_code, 0);
  }
}

TEST_F(CliPlanBuckets, LookupFindsTheSmallestBucketThatCovers) {
  ASSERT_EQ(make().exit_code, 0);
  const std::pair<const char*, std::int64_t> cases[] = {{"4", 128},   {"128", 128}, {"132", 256},
                                                        {"200", 256}, {"260", 400}, {"400", 400}};
  for (const auto& [seq, bucket] : cases) {
    const Outcome found = look_up(seq);
    ASSERT_EQ(found.exit_code, 0) << found.err;
    EXPECT_EQ(written("plan.json")["symbols"]["seq"]["max"], bucket) << seq;
    EXPECT_EQ(box_.run({"verify", "plan.json"}).exit_code, 0);
  }
  const Outcome printed = run({"--lookup", "plans.json", "--values", "seq=200"});
  EXPECT_EQ(nlohmann::json::parse(printed.out)["symbols"]["seq"]["max"], 256);
}

TEST_F(CliPlanBuckets, ALookUpSaysItsPeaks) {
  ASSERT_EQ(make().exit_code, 0);
  const auto look = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--lookup", "plans.json", "--values", "seq=200", "-o", "plan.json"});
    return run(more);
  };
  EXPECT_TRUE(contains(look({}).out, "peak 520 bytes")) << look({}).out;
  const auto said = nlohmann::json::parse(look({"--format", "json"}).out);
  EXPECT_EQ(said["bucket"], nlohmann::json({{"seq", 256}}));
  EXPECT_EQ(said["pools"][0]["peak_bytes"], 520);
  const Outcome wrong = run({"--lookup", "graph.json", "--values", "seq=4", "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(wrong.out, nullptr, false)["errors"][0]["id"], "cache.format");
}

TEST_F(CliPlanBuckets, LookupSaysWhatIsWrong) {
  ASSERT_EQ(make().exit_code, 0);
  EXPECT_TRUE(contains(look_up("404").err, "is no value of symbol `seq`"));
  EXPECT_TRUE(contains(look_up("201").err, "is no value of symbol `seq`"));
  EXPECT_TRUE(contains(run({"--lookup", "plans.json"}).err, "no value of symbol `seq`"));
  EXPECT_TRUE(
      contains(run({"--lookup", "plans.json", "--values", "sec=1"}).err, "did you mean `seq`?"));
  EXPECT_EQ(run({"--lookup", "none.json", "--values", "seq=4"}).exit_code, 2);
  EXPECT_TRUE(contains(run({"--lookup", "graph.json", "--values", "seq=4"}).err, "no plan cache"));
  EXPECT_EQ(run({"--values", "seq=4", "-o", "plan.json"}).exit_code, 2);
  const Outcome less =
      run({"--lookup", "plans.json", "--values", "seq=200", "--available-bytes", "519"});
  EXPECT_EQ(less.exit_code, 1);
  EXPECT_TRUE(contains(less.err, "1 missing")) << less.err;
}

TEST_F(CliPlanBuckets, ADamagedEntryIsRefusedAndPlannedAnew) {
  ASSERT_EQ(make().exit_code, 0);
  change_cache(R"("offset":0)", R"("offset":4)");
  const Outcome refused = look_up("100");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "is damaged")) << refused.err;
  EXPECT_EQ(look_up("200").exit_code, 0) << "the others are not";
  const Outcome again = make();
  EXPECT_EQ(taken(again), 2);
  EXPECT_TRUE(contains(again.out, "is damaged")) << again.out;
  EXPECT_EQ(look_up("100").exit_code, 0);
}

TEST_F(CliPlanBuckets, AnEntryOfNoBucketIsDamaged) {
  ASSERT_EQ(make().exit_code, 0);
  change_cache(R"("bucket": {"seq":256})", R"("bucket": ["seq", 256])");
  const Outcome refused = look_up("200");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "an entry is damaged")) << refused.err;
}

TEST_F(CliPlanBuckets, ALookUpDoesNotAskHowToPlan) {
  ASSERT_EQ(make().exit_code, 0);
  const Outcome refused =
      run({"--lookup", "plans.json", "--values", "seq=100", "--capacity", "7", "-o", "plan.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "--capacity")) << refused.err;
}

TEST_F(CliPlanBuckets, AFileThatIsNoCacheIsNotOverwritten) {
  for (const char* text : {"{\"memverify\": 1}", "{", "[]", "{\"memverify_plans\": 2}"}) {
    box_.write("plans.json", text);
    const Outcome made = make();
    EXPECT_EQ(made.exit_code, 2) << text;
    EXPECT_TRUE(contains(made.err, "with --buckets, -o is a plan cache or a new file")) << made.err;
    EXPECT_EQ(read_text(box_.path("plans.json")), text);
  }
}

TEST_F(CliPlanBuckets, DegradeTakesTheBucketsThatFit) {
  box_.write("graph.json", symbolic_graph(R"({"id": "hbm", "bytes": 600})"));
  const Outcome refused = make();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "bucket `seq` up to 400 does not fit")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "208 missing")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "bucket `seq` up to 256: peak 520 bytes")) << refused.err;
  EXPECT_TRUE(contains(refused.out, "these do: `seq` up to 128 or `seq` up to 256")) << refused.out;
  EXPECT_FALSE(std::filesystem::exists(box_.path("plans.json")));
  const Outcome made = make({"--buckets", "seq=128,256", "--degrade"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "left out, for it does not fit: `seq` up to 400")) << made.out;
  EXPECT_TRUE(contains(look_up("260").err, "no bucket covers these values"));
  EXPECT_EQ(make({"--buckets", "seq=128", "--degrade", "--capacity", "9"}).exit_code, 1);
}

TEST_F(CliPlanBuckets, OnePlanServesAllValuesUpToAMax) {
  const std::string chain = R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "q"}],
    "symbols": {"seq": {"min": 1, "max": 100000}},
    "tensors": [{"id": "a", "bytes": "2*seq"}, {"id": "b", "bytes": "seq"},
                {"id": "c", "bytes": "2*seq"}],
    "ops": [{"id": "make_a", "queue": "q", "writes": ["a"]},
            {"id": "make_b", "queue": "q", "reads": ["a"], "writes": ["b"]},
            {"id": "make_c", "queue": "q", "reads": ["b"], "writes": ["c"]}]})";
  box_.write("graph.json", chain);
  EXPECT_EQ(run({"-o", "plan.json"}).exit_code, 0);
  EXPECT_EQ(written("plan.json")["peak_bytes"]["hbm"], 300000);
  EXPECT_EQ(box_.run({"verify", "plan.json"}).exit_code, 0);
  const std::string max = R"(, "max": 100000)";
  std::string unbounded = chain;
  unbounded.erase(unbounded.find(max), max.size());
  box_.write("graph.json", unbounded);
  const Outcome refused = run({"-o", "plan.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "`seq`, which has no `max`")) << refused.err;
  EXPECT_EQ(make({"--buckets", "seq=1000,2000"}).exit_code, 0) << "a bucket is a max";
  EXPECT_EQ(look_up("1500").exit_code, 0);
  EXPECT_EQ(written("plan.json")["peak_bytes"]["hbm"], 6000);
}

TEST_F(CliPlanBuckets, RefusesBucketsThatAreNone) {
  const char* const wrong[] = {"seq", "sec=4", "seq=", "seq=3", "seq=404", "seq=4,,8", "seq=x"};
  for (const char* text : wrong) {
    EXPECT_EQ(make({"--buckets", text}).exit_code, 2) << text;
  }
  EXPECT_EQ(make({"--buckets", "seq=4", "--buckets", "seq=8"}).exit_code, 2);
}

}  // namespace
}  // namespace memverify::testing
