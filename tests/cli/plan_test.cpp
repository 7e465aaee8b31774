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
