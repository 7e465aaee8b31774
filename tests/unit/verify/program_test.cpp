#include "verify/program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/layout.h"
#include "plan/reader.h"

namespace memverify {
namespace {

class ProgramTest : public testing::Test {
 protected:
  const Program& make(const std::string& queues, const std::string& ops,
                      const std::string& rest = "") {
    plan_ = read_plan(R"({"memverify": 1, "queues": [)" + queues + R"(], "ops": [)" + ops + "]" +
                          rest + "}",
                      "test.json")
                .value();
    layout_ = Layout::make(plan_, {}).value();
    const auto iterations = static_cast<std::uint32_t>(*plan_.iterations);
    program_ = make_program(plan_, layout_, ConditionCase(plan_, iterations), iterations);
    return program_;
  }

  /// Names of what an instance needs, with the iteration: "a@0 b@1".
  std::string needs(const std::string& op, std::int64_t iteration = 0) const {
    for (OpId id : ids(plan_.ops)) {
      if (plan_.ops[id].name != op) continue;
      std::string text;
      for (Cmd cmd : program_.needs_of(program_.instances[program_.find(id, iteration)])) {
        text += (text.empty() ? "" : " ") + std::string(program_.op(cmd).name) + "@" +
                std::to_string(program_.instances[cmd].iteration);
      }
      return text;
    }
    return "?";
  }

  Plan plan_;
  Layout layout_;
  Program program_;
};

constexpr const char* kTwo = R"({"id": "q"}, {"id": "r"})";

TEST_F(ProgramTest, AnEventWaitBindsToTheMostRecentRecord) {
  make(kTwo, R"({"id": "w0", "kind": "wait", "queue": "r", "event": "e"},
    {"id": "e1", "kind": "record", "queue": "q", "event": "e"},
    {"id": "e2", "kind": "record", "queue": "q", "event": "e"},
    {"id": "w2", "kind": "wait", "queue": "r", "event": "e"})",
       R"(, "iterations": 2)");
  EXPECT_EQ(needs("w0", 0), "");
  EXPECT_EQ(needs("w2", 0), "e2@0");
  EXPECT_EQ(needs("w0", 1), "e2@0");
}

TEST_F(ProgramTest, AfterReachesBackOverIterationsButNotBeforeTheFirst) {
  make(kTwo, R"({"id": "a", "queue": "q", "after": [{"op": "b", "distance": 1}]},
    {"id": "b", "queue": "r", "after": ["a"]})",
       R"(, "iterations": 2)");
  EXPECT_EQ(needs("a", 0), "");
  EXPECT_EQ(needs("a", 1), "b@0");
  EXPECT_EQ(needs("b", 1), "a@1");
}

TEST_F(ProgramTest, ADroppedRecordBindsNobody) {
  make(kTwo, R"({"id": "e1", "kind": "record", "queue": "q", "event": "e"},
    {"id": "e2", "kind": "record", "queue": "q", "event": "e", "when": {"c": true}},
    {"id": "w", "kind": "wait", "queue": "r", "event": "e"})",
       R"(, "conditions": ["c"])");
  EXPECT_EQ(needs("w"), "e1@0");
}

TEST_F(ProgramTest, ACountFromOneSerialQueueIsOneCompletion) {
  make(kTwo, R"({"id": "a", "queue": "q", "signals": [{"semaphore": "n"}]},
    {"id": "b", "queue": "q", "signals": [{"semaphore": "n"}]},
    {"id": "w", "queue": "r", "waits": [{"semaphore": "n", "value": 2}]})",
       R"(, "semaphores": [{"id": "n", "initial": 1}])");
  EXPECT_EQ(needs("w"), "a@0");
  EXPECT_TRUE(program_.thresholds.empty());
}

TEST_F(ProgramTest, ACountFromTwoQueuesIsAThresholdUnlessItNeedsAll) {
  const std::string signals = R"({"id": "a", "queue": "q", "signals": [{"semaphore": "n"}]},
    {"id": "b", "queue": "r", "signals": [{"semaphore": "n"}]},
    {"id": "w", "queue": "r", "waits": [{"semaphore": "n", "value": )";
  make(kTwo, signals + "1}]}", R"(, "semaphores": [{"id": "n"}])");
  EXPECT_EQ(program_.thresholds.size(), 1U);
  make(kTwo, signals + "2}]}", R"(, "semaphores": [{"id": "n"}])");
  EXPECT_EQ(needs("w"), "a@0 b@0");
}

TEST_F(ProgramTest, DepthPutsAGateBeforeTheOpThatWouldExceedIt) {
  make(R"({"id": "q", "depth": 2})", R"({"id": "a", "queue": "q"}, {"id": "b", "queue": "q"},
    {"id": "c", "queue": "q"})");
  ASSERT_EQ(program_.instances.size(), 4U);
  EXPECT_TRUE(program_.instances[2].gate);
  EXPECT_EQ(program_.needs_of(program_.instances[2]).size(), 1U);  // a
  EXPECT_EQ(program_.instances[3].thread_before, 2U);
}

TEST_F(ProgramTest, PendingCountsTheOpsSubmittedBefore) {
  make(kTwo,
       R"({"id": "a", "queue": "q"}, {"id": "e", "kind": "record", "queue": "q", "event": "e"},
    {"id": "b", "queue": "q"}, {"id": "w", "queue": "r", "waits": [{"queue": "q", "pending": 1}]},
    {"id": "c", "queue": "q"})");
  EXPECT_EQ(needs("w"), "a@0");
}

}  // namespace
}  // namespace memverify
