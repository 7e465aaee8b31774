// `memverify plan` with options and files that make no sense: what it says, and where.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using InputJson = nlohmann::json;

class CliPlanInput : public ::testing::Test {
 protected:
  Outcome plan(const std::string& graph, std::vector<std::string> more) {
    box_.write("graph.json", graph);
    more.insert(more.begin(), {"plan", "graph.json"});
    return box_.run(more);
  }
  Sandbox box_;
};

TEST_F(CliPlanInput, NumbersThatAreNoneAreNamed) {
  const std::pair<const char*, const char*> whole[] = {
      {"--capacity", "a whole number from 0 to 9223372036854775807"},
      {"--slots", "a whole number from 1 to 9223372036854775807"},
      {"--blocks", "a whole number from 1 to 1099511627776"},
      {"--seconds", "a number of seconds from 0 to 1000000000"}};
  for (const auto& [option, wanted] : whole) {
    for (const char* value : {"-1", "nan", "inf", "9223372036854775808", "1e400", "8x", ""}) {
      const Outcome made = plan(unplaced_plan(), {option, value, "-o", "plan.json"});
      EXPECT_EQ(made.exit_code, 2) << option << value;
      const std::string words =
          "memverify: " + std::string(option) + ": `" + value + "` is not " + wanted + "\n";
      EXPECT_EQ(made.err.substr(0, words.size()), words);
    }
  }
  EXPECT_EQ(plan(unplaced_plan(), {"--capacity", "064", "-o", "plan.json"}).exit_code, 2);
  EXPECT_EQ(plan(unplaced_plan(), {"--capacity", "63", "-o", "plan.json"}).exit_code, 1);
  EXPECT_EQ(plan(unplaced_plan(), {"--capacity", "64", "-o", "plan.json"}).exit_code, 0);
  EXPECT_EQ(plan(unplaced_plan(), {"--seconds", "0.5e1", "-o", "plan.json"}).exit_code, 0);
  for (const char* command : {"verify", "simulate"}) {
    const Outcome made = box_.run({command, "plan.json", "--budget-seconds", "nan"});
    EXPECT_EQ(made.exit_code, 2) << command;
    EXPECT_TRUE(contains(made.err, "`nan` is not a number of seconds")) << made.err;
  }
}

TEST_F(CliPlanInput, AnOutputHasAName) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--available-bytes", "64"}}) {
    std::vector<std::string> all = {"-o", ""};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome made = plan(unplaced_plan(), all);
    EXPECT_EQ(made.exit_code, 2);
    EXPECT_TRUE(contains(made.err, "-o needs the name of a file")) << made.err;
  }
}

/// As `verify` does.
TEST_F(CliPlanInput, ErrorsAreJsonWhereTheReportIs) {
  const auto said = [&](const std::string& graph, int exit_code) {
    const Outcome made = plan(graph, {"-o", "plan.json", "--format", "json"});
    EXPECT_EQ(made.exit_code, exit_code) << made.err;
    EXPECT_FALSE(made.err.empty());
    return InputJson::parse(made.out, nullptr, false);
  };
  EXPECT_EQ(said("{", 2)["verdict"], "error");
  EXPECT_EQ(said(bad_plan(), 2)["errors"][0]["pointer"], "/ops/1/reeds");
  InputJson racy = InputJson::parse(unplaced_plan());
  racy["queues"].push_back({{"id", "r"}});
  racy["ops"].push_back({{"id", "use"}, {"queue", "r"}, {"reads", {"x"}}});
  EXPECT_EQ(said(racy.dump(), 2)["findings"][0]["rule"], "MV102");
  racy["ops"][1] = {{"id", "call"}, {"queue", "r"}, {"kind", "unknown"}};
  EXPECT_EQ(said(racy.dump(), 3)["verdict"], "unknown");
}

TEST_F(CliPlanInput, APoolThatIsNotInTheGraphIsExplained) {
  InputJson racy = InputJson::parse(unplaced_plan());
  racy["queues"].push_back({{"id", "r"}});
  racy["ops"].push_back({{"id", "use"}, {"queue", "r"}, {"reads", {"x"}}});
  const Outcome unsafe = plan(racy.dump(), {"-o", "plan.json"});
  EXPECT_TRUE(contains(unsafe.err, "of pool `unplaced`")) << unsafe.err;
  EXPECT_TRUE(contains(unsafe.err, "Pool `unplaced` is none of the graph")) << unsafe.err;
  racy["ops"][1] = {{"id", "call"}, {"queue", "r"}, {"kind", "unknown"}};
  const Outcome unknown = plan(racy.dump(), {"-o", "plan.json"});
  EXPECT_TRUE(contains(unknown.err, "the graph is not proven safe")) << unknown.err;
  EXPECT_FALSE(contains(unknown.err, "unplaced")) << unknown.err;
}

TEST_F(CliPlanInput, WhatDoesNotFitIn64BitsIsRefused) {
  const std::int64_t huge = std::int64_t{1} << 62;
  const auto refused = [&](const InputJson& graph, const std::string& words) {
    const Outcome made = plan(graph.dump(), {"-o", "plan.json"});
    EXPECT_EQ(made.exit_code, 2) << graph;
    EXPECT_TRUE(contains(made.err, "graph.too_large")) << made.err;
    EXPECT_TRUE(contains(made.err, words)) << made.err;
  };
  InputJson own = InputJson::parse(unplaced_plan());
  own["tensors"][0]["alignment"] = huge;
  refused(own, "with tensor `x` the alignments of tensors and pools have no common multiple");
  InputJson pool = InputJson::parse(unplaced_plan());
  pool["pools"][0]["alignment"] = huge;
  refused(pool, "with tensor `x` the alignments of tensors and pools have no common multiple");
  InputJson coprime = InputJson::parse(unplaced_plan());
  coprime["pools"][0]["alignment"] = (std::int64_t{1} << 40) - 1;
  coprime["tensors"][0]["alignment"] = std::int64_t{1} << 40;
  refused(coprime, "no common multiple up to 2^60 bytes");
  InputJson many = InputJson::parse(unplaced_plan());
  many["pools"][0]["alignment"] = std::int64_t{1} << 59;
  many["tensors"][0]["slots"] = 100;
  refused(many, "each with a gap for an alignment of 576460752303423488 bytes");
  InputJson fixed = InputJson::parse(unplaced_plan());
  fixed["storages"] = {{{"id", "s"}, {"pool", "hbm"}, {"offset", huge}, {"bytes", 8}}};
  refused(fixed, "storage `s` ends beyond 2^61 bytes");
}

TEST_F(CliPlanInput, BytesThatArePlacedBeforeCountInTheReuse) {
  InputJson graph = InputJson::parse(unplaced_plan());
  graph["storages"] = {{{"id", "s"}, {"pool", "hbm"}, {"offset", 0}, {"bytes", 192}}};
  graph["tensors"].push_back({{"id", "w"}, {"storage", "s"}, {"bytes", 192}});
  graph["constants"] = {"w"};
  const Outcome made = plan(graph.dump(), {"-o", "plan.json"});
  EXPECT_TRUE(contains(made.out, "64 bytes together, 192 bytes placed before, reuse ratio 0.0 %"))
      << made.out;
}

}  // namespace
}  // namespace memverify::testing
