// `memverify plan --branches`: one place for all paths, or one for each and copies at merges.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Ops = nlohmann::json;

Ops branch_op(const std::string& id, const Ops& reads, const Ops& writes, const Ops& when) {
  Ops op = {{"id", id}, {"queue", "q"}, {"reads", reads}, {"writes", writes}};
  if (!when.is_null()) op["when"] = when;
  return op;
}

const Ops kThen = {{"c", true}};
const Ops kElse = {{"c", false}};

/// Pairs that are alive together: under c {t, u} and {v, w}, else all others. No path needs more
/// than two places at a time, yet every two tensors meet on some path.
Ops four_in_pairs() {
  Ops graph = Ops::parse(R"({"memverify": 1, "conditions": ["c"], "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}]})");
  for (const char* id : {"t", "u", "v", "w"})
    graph["tensors"].push_back({{"id", id}, {"bytes", 64}});
  for (const std::string pair : {"tu", "vw", "tv", "tw", "uv", "uw"}) {
    const Ops both = {pair.substr(0, 1), pair.substr(1)};
    const Ops& when = pair == "tu" || pair == "vw" ? kThen : kElse;
    graph["ops"].push_back(branch_op(pair, Ops::array(), both, when));
    graph["ops"].push_back(branch_op("use_" + pair, both, Ops::array(), when));
  }
  return graph;
}

/// y is made by `left` from a, or by `right` from b, which is large; then read through a view.
Ops merge_of_two() {
  Ops graph = Ops::parse(R"({"memverify": 1, "conditions": ["c"], "pools": [{"id": "hbm"}],
    "queues": [{"id": "q"}, {"id": "r"}], "outputs": ["z"],
    "tensors": [{"id": "a", "bytes": 64}, {"id": "b", "bytes": 128}, {"id": "y", "bytes": 64},
                {"id": "half", "view_of": "y", "bytes": 32}, {"id": "z", "bytes": 64}]})");
  graph["ops"] = {branch_op("make_a", Ops::array(), {"a"}, nullptr),
                  branch_op("left", {"a"}, {"y"}, kThen),
                  branch_op("make_b", {"a"}, {"b"}, kElse),
                  branch_op("right", {"b"}, {"y"}, kElse),
                  branch_op("look", {"half"}, Ops::array(), kElse),
                  branch_op("use", {"half"}, {"z"}, nullptr)};
  graph["ops"][5]["queue"] = "r";
  graph["ops"][5]["after"] = {"left", "right"};
  return graph;
}

class CliPlanBranches : public ::testing::Test {
 protected:
  /// The report, of a plan that every engine finds safe.
  Ops plan(const Ops& graph, const std::string& branches) {
    box_.write("graph.json", graph.dump());
    const Outcome made = box_.run({"plan", "graph.json", "--branches", branches, "--seconds", "0.1",
                                   "-o", "plan.json", "--format", "json"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(box_.run({"verify", "plan.json", "--engine", "all"}).exit_code, 0);
    plan_ = Ops::parse(read_text(box_.path("plan.json")));
    return Ops::parse(made.out);
  }
  std::size_t tensors() const { return plan_["tensors"].size(); }
  Sandbox box_;
  Ops plan_;
};

TEST_F(CliPlanBranches, EachPathHasPlacesOfItsOwn) {
  const Ops said = plan(four_in_pairs(), "per-path")["branches"];
  EXPECT_EQ(said["union"]["hbm"], 256);
  EXPECT_EQ(said["per_path"]["hbm"], 128);
  EXPECT_TRUE(said["copies"].empty());
  EXPECT_EQ(plan_["peak_bytes"]["hbm"], 128);
  ASSERT_EQ(said["paths"].size(), 2U);
  EXPECT_EQ(said["paths"][0], Ops::parse(R"({"path": "c", "peak_bytes": {"hbm": 128}})"));
  EXPECT_EQ(said["paths"][1], Ops::parse(R"({"path": "!c", "peak_bytes": {"hbm": 128}})"));
}

TEST_F(CliPlanBranches, UnionKeepsOnePlaceAndSaysBothPrices) {
  const Ops said = plan(four_in_pairs(), "union")["branches"];
  EXPECT_EQ(said["union"]["hbm"], 256);
  EXPECT_EQ(said["per_path"]["hbm"], 128);
  EXPECT_EQ(plan_["peak_bytes"]["hbm"], 256);
  EXPECT_EQ(tensors(), 4U);
}

TEST_F(CliPlanBranches, AMergeIsACopyWhereThePlacesDiffer) {
  const Ops said = plan(merge_of_two(), "per-path")["branches"];
  EXPECT_EQ(said["union"]["hbm"], 256);
  EXPECT_EQ(said["per_path"]["hbm"], 192);
  EXPECT_EQ(said["copies"], Ops::parse(R"([{"op": "copy y@!c", "from": "y@!c", "to": "y",
                                            "bytes": 64}])"));
  std::string order;
  for (const Ops& op : plan_["ops"]) order += op["id"].get<std::string>() + " ";
  EXPECT_EQ(order, "make_a left make_b right look copy y@!c use ");
  EXPECT_EQ(plan_["ops"][4]["reads"], Ops({"half@!c"})) << "the view goes with its root";
  EXPECT_EQ(plan_["ops"][6]["reads"], Ops({"half"}));
}

TEST_F(CliPlanBranches, WhereThePlacesAgreeThereIsNoCopy) {
  Ops graph = merge_of_two();
  graph["ops"][3]["reads"] = {"a"};  // As on the other path.
  const Ops said = plan(graph, "per-path")["branches"];
  EXPECT_EQ(said["union"], said["per_path"]);
  EXPECT_TRUE(said["copies"].empty()) << said;
  EXPECT_EQ(tensors(), 5U);
  EXPECT_EQ(plan_["ops"].size(), 6U);
}

TEST_F(CliPlanBranches, WhatCannotBeSplitStaysInOnePlace) {
  Ops before = four_in_pairs();  // t and u are written before the branches.
  before["ops"].insert(before["ops"].begin(),
                       branch_op("first", Ops::array(), {"t", "u", "v", "w"}, nullptr));
  Ops from = merge_of_two();  // The read names the writer that it means.
  from["ops"][5]["reads"] = {{{"tensor", "half"}, {"from", "left"}}};
  from["ops"][5]["when"] = kThen;
  from["ops"].erase(4);
  from.erase("outputs");
  Ops part = merge_of_two();  // One path writes half of y only.
  part["ops"][3]["writes"] = {"half"};
  Ops nested = four_in_pairs();
  nested["conditions"].push_back("d");
  for (Ops& op : nested["ops"]) {  // No two sets of conditions exclude each other.
    if (op["when"] == kElse) op["when"] = {{"d", true}};
  }
  Ops inputs = four_in_pairs();
  inputs["ops"][0]["writes"] = {"u"};  // As if t came in.
  inputs["inputs"] = {"t"};
  inputs["donated"] = {"t"};
  const std::pair<Ops, std::string> cases[] = {
      {before, "`t` has one place for all paths: `first`, which is on all paths, writes it"},
      {from, "`y` has one place for all paths: `use` says which version it reads"},
      {part, "`y` has one place for all paths: no op of path `!c` writes all of it"},
      {nested, "`t` has one place for all paths: paths `c` and `d` may be the same"}};
  for (const auto& [graph, why] : cases) {
    box_.write("graph.json", graph.dump());
    const Outcome made = box_.run(
        {"plan", "graph.json", "--branches", "per-path", "--seconds", "0.1", "-o", "plan.json"});
    EXPECT_EQ(made.exit_code, 0) << made.err << graph;
    EXPECT_TRUE(contains(made.out, "no tensor can have a place for each path")) << made.out;
    EXPECT_TRUE(contains(made.out, why)) << made.out;
    EXPECT_FALSE(contains(read_text(box_.path("plan.json")), "@"));
  }
  const Ops kept = plan(inputs, "per-path")["branches"]["kept"];
  EXPECT_EQ(kept, Ops::parse(R"([{"tensor": "t", "why": "it is an input"}])"));
}

/// Each iteration takes a path of its own, and the next may start before it ends.
TEST_F(CliPlanBranches, WhatRotatesIsSplitToo) {
  Ops graph = four_in_pairs();
  graph["iterations"] = 3;
  for (Ops& tensor : graph["tensors"]) tensor["slots"] = 2;
  const Ops said = plan(graph, "per-path")["branches"];
  EXPECT_TRUE(said["kept"].empty()) << said;
  EXPECT_LT(said["per_path"]["hbm"], said["union"]["hbm"]);
}

TEST_F(CliPlanBranches, WithoutConditionsThereIsNoPath) {
  box_.write("graph.json", unplaced_plan());
  const Outcome made =
      box_.run({"plan", "graph.json", "--branches", "per-path", "-o", "plan.json"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_FALSE(contains(made.out, "path ``")) << made.out;
}

TEST_F(CliPlanBranches, AnOutputIsCopiedAtTheEnd) {
  Ops graph = merge_of_two();
  graph["outputs"] = {"y"};
  graph["ops"].erase(5);
  const Ops said = plan(graph, "per-path")["branches"];
  EXPECT_EQ(said["copies"].size(), 1U) << said;
  EXPECT_EQ(plan_["ops"].back()["id"], "copy y@!c");
}

TEST_F(CliPlanBranches, IterationsThatMixPathsAreSafe) {
  Ops graph = four_in_pairs();
  graph["iterations"] = 3;  // c has a value of its own in each.
  EXPECT_EQ(plan(graph, "per-path")["branches"]["per_path"]["hbm"], 128);
}

TEST_F(CliPlanBranches, APoolThatIsTooSmallForTheUnionMayDoForPaths) {
  Ops graph = four_in_pairs();
  graph["pools"][0]["bytes"] = 128;
  EXPECT_EQ(plan(graph, "per-path")["branches"]["union"]["hbm"], 256);
  const Outcome made = box_.run({"plan", "graph.json", "--branches", "union", "-o", "plan.json"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_TRUE(contains(made.err, "a place for each path 128 bytes")) << made.err;
  const Outcome plain = box_.run({"plan", "graph.json", "-o", "plan.json"});
  EXPECT_TRUE(contains(plain.err, "    --branches per-path: 128 bytes of `hbm`")) << plain.err;
  for (const char* other : {"--degrade", "--buckets"}) {
    EXPECT_EQ(box_.run({"plan", "graph.json", "--branches", "union", other, "c=1"}).exit_code, 2);
  }
}

}  // namespace
}  // namespace memverify::testing
