#include "tools/planner_process.h"

#include <gtest/gtest.h>

#include "plan/reader.h"
#include "planner/apart.h"

namespace memverify {
namespace {

constexpr const char* kGraph = R"({
  "memverify": 1, "pools": [{"id": "p"}], "queues": [{"id": "q"}],
  "tensors": [{"id": "t", "bytes": 8}],
  "ops": [{"id": "w", "queue": "q", "writes": ["t"]}, {"id": "r", "queue": "q", "reads": ["t"], "after": ["w"]}]})";
constexpr const char* kPlaced =
    R"({"memverify":1,"pools":[{"id":"p"}],"queues":[{"id":"q"}],)"
    R"("storages":[{"id":"t","pool":"p","offset":0,"bytes":8}],)"
    R"("tensors":[{"id":"t","storage":"t","bytes":8}],)"
    R"("ops":[{"id":"w","queue":"q","writes":["t"]},{"id":"r","queue":"q","reads":["t"],"after":["w"]}]})";

Answer answer_of(const std::string& command, bool persistent = false, double timeout = 20) {
  const Plan graph = read_plan(kGraph, "").value();
  const auto target =
      process_target({.command = command, .persistent = persistent, .timeout = timeout});
  return target->plan(graph, place_apart(graph).value());
}

std::string echo(const std::string& text) { return "printf '%s\\n' '" + text + "'"; }

std::string replaced_once(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(PlannerProcess, TakesAPlanFromStandardOutputOrAFile) {
  EXPECT_TRUE(answer_of(echo(kPlaced)).plan);
  EXPECT_TRUE(answer_of(echo(kPlaced) + " > {out}").plan);
  EXPECT_TRUE(answer_of("grep -q after {in} && " + echo(kPlaced)).plan);
  EXPECT_TRUE(answer_of("grep -q after && " + echo(kPlaced)).plan);
  EXPECT_TRUE(answer_of("while read line; do " + echo(kPlaced) + "; done", true).plan);
}

TEST(PlannerProcess, TellsFailuresApart) {
  const auto outcome = [](const std::string& command, bool persistent = false) {
    return answer_of(command, persistent, 20).outcome;
  };
  EXPECT_EQ(outcome("kill -SEGV $$"), Outcome::kCrashed);
  EXPECT_EQ(answer_of("kill -SEGV $$").detail, "signal 11");
  EXPECT_EQ(answer_of("exit 3").detail, "exit code 3");
  EXPECT_EQ(outcome("read line; exit 1", true), Outcome::kCrashed);
  EXPECT_EQ(outcome("exit 0", true), Outcome::kCrashed);
  EXPECT_EQ(outcome("no-such-planner-anywhere 2>/dev/null"), Outcome::kCrashed);
  EXPECT_EQ(outcome("true"), Outcome::kGarbage);
  EXPECT_EQ(outcome("echo hello"), Outcome::kGarbage);
  EXPECT_EQ(outcome("cat"), Outcome::kGarbage) << "the graph is no plan";
  EXPECT_EQ(outcome("cat", true), Outcome::kGarbage);
  EXPECT_EQ(outcome(echo(R"({"refused": "too hard"})")), Outcome::kRefused);
  EXPECT_EQ(answer_of("read line; " + echo(R"({"refused": "too hard"})"), true).detail, "too hard");
  EXPECT_EQ(answer_of("sleep 20", false, 0.2).outcome, Outcome::kTimedOut);
  EXPECT_EQ(answer_of("sleep 20", true, 0.2).outcome, Outcome::kTimedOut);
}

TEST(PlannerProcess, KnowsAPlanOfAnotherGraph) {
  const std::string plan = kPlaced;
  const auto change = [&](const std::string& what, const std::string& by) {
    return answer_of(echo(replaced_once(plan, what, by)));
  };
  EXPECT_EQ(change(R"("bytes":8}],"ops")", R"("bytes":4}],"ops")").detail, "it altered tensor `t`");
  EXPECT_EQ(change(R"(,"after":["w"])", "").detail, "op `r` lost one of its `after`");
  EXPECT_EQ(change(R"(,"reads":["t"])", "").detail, "it altered op `r`");
  EXPECT_EQ(
      change(
          R"({"id":"w","queue":"q","writes":["t"]},{"id":"r","queue":"q","reads":["t"],"after":["w"]})",
          R"({"id":"w","queue":"q","writes":["t"]})")
          .detail,
      "it lost op `r`");
  EXPECT_EQ(change(R"({"id":"q"})", R"({"id":"q","order":"none"})").detail, "it altered `queues`");
  EXPECT_EQ(change(R"("memverify":1)", R"("memverify":1,"iterations":2)").outcome,
            Outcome::kChanged);
  EXPECT_TRUE(
      change(R"({"id":"r")", R"({"id":"b","kind":"barrier","queues":["q"]},{"id":"r")").plan)
      << "more sync is fine";
}

TEST(PlannerProcess, StartsAPersistentPlannerAgain) {
  const Plan graph = read_plan(kGraph, "").value();
  const ApartPlan apart = place_apart(graph).value();
  const auto target = process_target(
      {.command = "read line; " + echo(kPlaced) + "; read line; exit 7", .persistent = true});
  EXPECT_TRUE(target->plan(graph, apart).plan);
  EXPECT_EQ(target->plan(graph, apart).detail, "exit code 7");
  EXPECT_TRUE(target->plan(graph, apart).plan);
}

}  // namespace
}  // namespace memverify
