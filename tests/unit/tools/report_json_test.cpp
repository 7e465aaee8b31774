#include "tools/report_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plan/builder.h"

namespace memverify {
namespace {

using Json = nlohmann::json;

Report report_with(Finding finding, std::int64_t iterations = 1) {
  PlanBuilder builder;
  builder.set_iterations(iterations);
  builder.add_condition({.name = "c"});
  builder.add_condition({.name = "r", .per = "run"});
  builder.add_symbol({.name = "n", .max = 9});
  builder.add_queue({.name = "q"});
  builder.add_semaphore({.name = "sem"});
  builder.add_op({.name = "a", .queue = "q", .signals = {{.semaphore = "sem"}, {.event = "e"}}});
  builder.add_op({.name = "b", .queue = "q"});
  Report report{.file = "dir/plan.json"};
  report.plan = std::move(builder).build().value();
  report.verdict = Verdict::kUnsafe;
  report.engines = {{"hb", Verdict::kUnsafe}};
  report.findings = {std::move(finding)};
  return report;
}

Json json_of(const Report& report) {
  return Json::parse(json_report(report, JsonLayout::kOneLine));
}

TEST(JsonReport, NamesThePlanByItsFileWhenItHasNoName) {
  EXPECT_EQ(json_of(report_with({}))["plan"], "dir/plan.json");
}

TEST(JsonReport, LeavesOutWhatAFindingDoesNotHave) {
  const Json finding = json_of(report_with({.rule = Rule::kDeadlock}))["findings"][0];
  for (const char* key : {"pool", "bytes", "event", "semaphore", "queue", "expected"}) {
    EXPECT_FALSE(finding.contains(key)) << key;
  }
  EXPECT_EQ(finding["ops"], Json::array());
  EXPECT_EQ(finding["witness"], Json::array());
}

TEST(JsonReport, NamesTheSyncAtFault) {
  const Json finding = json_of(report_with({.rule = Rule::kDeadlock,
                                            .ops = {OpId{0}},
                                            .event = EventId{0},
                                            .semaphore = SemaphoreId{0},
                                            .queue = QueueId{0}}))["findings"][0];
  EXPECT_EQ(finding["event"], "e");
  EXPECT_EQ(finding["semaphore"], "sem");
  EXPECT_EQ(finding["queue"], "q");
}

TEST(JsonReport, PrintsAConditionPerIterationAsAnArray) {
  const std::vector<ConditionValue> when = {{ConditionId{0}, 1, true}, {ConditionId{1}, -1, false}};
  const Json repeated = json_of(report_with({.when = when}, 3))["findings"][0]["when"];
  EXPECT_EQ(repeated, (Json{{"c", {nullptr, true}}, {"r", false}}));
  const Json once = json_of(report_with({.when = {{ConditionId{0}, 0, true}}}))["findings"][0];
  EXPECT_EQ(once["when"], (Json{{"c", true}}));
}

TEST(JsonReport, PrintsSymbolsByName) {
  const Json finding = json_of(report_with({.symbols = {{SymbolId{0}, 5}}}))["findings"][0];
  EXPECT_EQ(finding["symbols"], (Json{{"n", 5}}));
  EXPECT_FALSE(finding.contains("symbols_at_least"));
  const Json from = json_of(report_with(
      {.symbols = {{SymbolId{0}, 5}}, .symbols_at_least = {{SymbolId{0}, 5}}}))["findings"][0];
  EXPECT_EQ(from["symbols_at_least"], (Json{{"n", 5}}));
}

TEST(JsonReport, KeepsOnlyTheLastStepsOfALongRun) {
  Finding finding{.rule = Rule::kWar};
  for (std::int64_t i = 0; i < 1500; ++i) finding.witness.push_back({false, OpId{0}, i});
  const Json json = json_of(report_with(finding))["findings"][0];
  EXPECT_EQ(json["witness"].size(), 1000U);
  EXPECT_EQ(json["witness_omitted"], 500);
  EXPECT_EQ(json["witness"][0], (Json{{"at", "start"}, {"op", "a"}, {"iteration", 500}}));
}

TEST(JsonReport, ReplacesWhatIsNoUtf8) {
  Report report = report_with({.rule = Rule::kDeadlock});
  report.file = "b\xff";
  EXPECT_EQ(json_of(report)["plan"], "b\xEF\xBF\xBD");
}

TEST(JsonReport, PrettyAndOneLineSayTheSame) {
  const Report report = report_with(
      {.rule = Rule::kWar, .ops = {OpId{0}, OpId{0}}, .message = std::string(200, 'm')});
  const std::string pretty = json_report(report, JsonLayout::kPretty);
  const std::string line = json_report(report, JsonLayout::kOneLine);
  EXPECT_EQ(nlohmann::ordered_json::parse(pretty), nlohmann::ordered_json::parse(line));
  EXPECT_GT(std::ranges::count(pretty, '\n'), 5);
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
}

}  // namespace
}  // namespace memverify
