#include "tools/decide.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "plan/input_file.h"
#include "plan/reader.h"

namespace memverify {
namespace {

EngineResult answer(Verdict verdict) { return {.verdict = verdict}; }
EngineResult give_up(const Plan&, const EngineOptions&, const Layout*) {
  return {.verdict = Verdict::kUnknown, .findings = {Finding{.rule = Rule::kNotProven}}};
}
EngineResult unknown_op(const Plan&, const EngineOptions&, const Layout*) {
  return {.verdict = Verdict::kUnknown,
          .findings = {Finding{.rule = Rule::kNotProven, .ops = {OpId{0}}}}};
}
EngineResult say_safe(const Plan&, const EngineOptions&, const Layout*) {
  return answer(Verdict::kSafe);
}
EngineResult say_unsafe(const Plan&, const EngineOptions&, const Layout*) {
  return answer(Verdict::kUnsafe);
}
/// Wrong of plans that have an op `w`.
EngineResult safe_but_for_w(const Plan& plan, const EngineOptions&, const Layout*) {
  for (const Op& op : plan.ops) {
    if (op.name == "w") return answer(Verdict::kUnsafe);
  }
  return answer(Verdict::kSafe);
}

constexpr Engine kGivesUp{.name = "gives-up", .help = "", .run = give_up};
constexpr Engine kStopsAtAnOp{.name = "stops-at-an-op", .help = "", .run = unknown_op};
constexpr Engine kSafe{.name = "safe", .help = "", .run = say_safe};
constexpr Engine kUnsafe{.name = "unsafe", .help = "", .run = say_unsafe};
constexpr Engine kWrong{.name = "wrong", .help = "", .run = safe_but_for_w};

constexpr std::string_view kPlan = R"({"memverify": 1,
  "pools": [{"id": "p"}], "queues": [{"id": "q"}],
  "storages": [{"id": "s", "pool": "p", "offset": 0, "bytes": 8}],
  "tensors": [{"id": "t", "storage": "s", "offset": 0, "bytes": 8},
              {"id": "u", "storage": "s", "offset": 0, "bytes": 4}],
  "ops": [{"id": "v", "queue": "q", "writes": ["u"]}, {"id": "w", "queue": "q", "writes": ["t"]},
          {"id": "r", "queue": "q", "reads": ["t"]}]})";

class Decide : public ::testing::Test {
 protected:
  void SetUp() override {
    start_ = std::filesystem::current_path();
    const std::filesystem::path box = std::filesystem::path(::testing::TempDir()) / "decide_test";
    std::filesystem::create_directories(box);
    std::filesystem::current_path(box);
    std::filesystem::remove("memverify-disagreement.json");
  }
  void TearDown() override { std::filesystem::current_path(start_); }

  static Report decided(const EngineChoice& choice) {
    Report report;
    report.plan = std::move(read_plan(kPlan, "plan").value());
    decide(report, choice, EngineOptions{});
    return report;
  }

 private:
  std::filesystem::path start_;
};

TEST_F(Decide, TheFirstEngineThatLeavesNothingOpenIsTheLastThatIsAsked) {
  const Report report = decided({.engines = {&kGivesUp, &kSafe, &kUnsafe}});
  EXPECT_EQ(report.verdict, Verdict::kSafe);
  EXPECT_EQ(report.decided_by, "safe");
  EXPECT_EQ(report.engines.size(), 2U);
  EXPECT_TRUE(report.findings.empty()) << "they are those of the engine that decided";
}

TEST_F(Decide, NobodyElseIsAskedAboutAnUnknownOp) {
  const Report report = decided({.engines = {&kStopsAtAnOp, &kSafe}});
  EXPECT_EQ(report.verdict, Verdict::kUnknown);
  EXPECT_EQ(report.engines.size(), 1U);
}

TEST_F(Decide, OfTwoThatLeaveNothingOpenTheFirstOneSpeaks) {
  constexpr Engine kOther{.name = "other", .help = "", .run = unknown_op};
  const Report report = decided({.engines = {&kStopsAtAnOp, &kOther}, .all = true});
  EXPECT_EQ(report.decided_by, "stops-at-an-op");
}

TEST_F(Decide, WhereAllGiveUpTheFirstOneSaysWhy) {
  const Report report = decided({.engines = {&kGivesUp, &kGivesUp}});
  EXPECT_EQ(report.verdict, Verdict::kUnknown);
  EXPECT_EQ(report.findings.size(), 1U);
}

TEST_F(Decide, UnknownContradictsNobody) {
  const Report report = decided({.engines = {&kSafe, &kGivesUp, &kSafe}, .all = true});
  EXPECT_EQ(report.engines.size(), 3U);
  EXPECT_TRUE(report.internal_errors.empty());
  EXPECT_EQ(exit_code(report), ExitCode::kSafe);
}

TEST_F(Decide, AContradictionIsAnInternalErrorWithTheSmallestSuchPlanSaved) {
  const Report report = decided({.engines = {&kSafe, &kWrong}, .all = true});
  EXPECT_EQ(exit_code(report), ExitCode::kInternal);
  ASSERT_EQ(report.internal_errors.size(), 1U);
  const Result<InputFile> file = InputFile::open("memverify-disagreement.json");
  ASSERT_TRUE(file.ok());
  const Result<Plan> plan = read_plan(file.value().text(), "");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().ops.size(), 2U) << "`w`, and one that touches a byte";
}

TEST(Engines, AutoAndAllAskEveryOneAndANameAsksOne) {
  EXPECT_EQ(select_engines("auto").engines.size(), engines().size());
  EXPECT_FALSE(select_engines("auto").all);
  EXPECT_TRUE(select_engines("all").all);
  ASSERT_EQ(select_engines("sim").engines.size(), 1U);
  EXPECT_EQ(select_engines("sim").engines.front()->name, "sim");
  EXPECT_TRUE(select_engines("none").engines.empty());
}

}  // namespace
}  // namespace memverify
