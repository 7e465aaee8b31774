#include "tools/report_text.h"

#include <gtest/gtest.h>

#include "plan/describe.h"
#include "plan/reader.h"

namespace memverify {
namespace {

Plan sample() {
  Result<Plan> plan = read_plan(R"({"memverify": 1, "iterations": 2, "pools": [{"id": "hbm"}],
    "queues": [{"id": "a"}, {"id": "b"}],
    "storages": [{"id": "s", "pool": "hbm", "offset": [0, 64], "bytes": 64}],
    "tensors": [{"id": "x", "storage": "s", "offset": 0, "bytes": 64},
                {"id": "v", "view_of": "x", "offset": 0, "bytes": 32}],
    "ops": [{"id": "make", "label": "MatMul", "queue": "a", "writes": ["x"],
             "loc": {"file": "net.py", "line": 7}},
            {"id": "use", "queue": "b", "reads": [{"tensor": "v", "distance": 1, "offset": 4, "bytes": 8}]},
            {"id": "call", "queue": "b", "clobbers": [{"pool": "hbm", "offset": 0, "bytes": 8}]}]})",
                                "sample");
  EXPECT_TRUE(plan.ok());
  return std::move(plan).value();
}

TEST(TextReport, RaceIsToldInTheMannerOfACompiler) {
  const Plan plan = sample();
  Finding finding{
      .rule = Rule::kRaw,
      .also = {Rule::kWaw},
      .ops = {OpId{0}, OpId{1}},
      .tensors = {TensorId{0}, TensorId{1}},
      .storages = {StorageId{0}},
      .pool = PoolId{0},
      .bytes = {4, 12},
      .iteration = {0, 1},
      .witness = {
          {false, OpId{0}, 0}, {false, OpId{1}, 0}, {true, OpId{1}, 0}, {false, OpId{1}, 1}}};
  describe(plan, finding);
  EXPECT_EQ(text_finding(plan, finding, Style()),
            "error[MV102]: `use` of iteration 1 may read `v` before `make` of iteration 0 has "
            "completed its write of `x`\n"
            "  --> net.py:7\n"
            "   | `make` of iteration 0 (MatMul, queue `a`) writes `x`\n"
            "   |     `x` -> storage `s`, slot 0 at [0, 64) of pool `hbm`\n"
            "   | `use` of iteration 1 (queue `b`) reads [4, 12) of `v` of 1 iteration before\n"
            "   |     `v` -> `x` -> storage `s`, slot 0 at [0, 64) of pool `hbm`\n"
            "   |\n"
            "   = bytes:    [4, 12) of pool `hbm`, 8 bytes\n"
            "   = now:      `use` waits for `call` of the iteration before on queue `b`\n"
            "   = missing:  nothing makes `use` of iteration 1 wait for `make` of iteration 0 to "
            "complete\n"
            "   = also:     MV103 (unordered writers)\n"
            "   = run:      start make@0, use@0, start use@1\n"
            "   = help:     record a new event after `make` on queue `a` and wait for it in `use`; or "
            "add \"after\": [{\"op\": \"make\", \"distance\": 1}] to `use`\n");
}

TEST(TextReport, ClobberOfAPoolIsNamed) {
  const Plan plan = sample();
  Finding finding{.rule = Rule::kWaw,
                  .ops = {OpId{0}, OpId{2}},
                  .tensors = {TensorId{0}, kNone<TensorId>},
                  .pool = PoolId{0},
                  .bytes = {0, 8},
                  .iteration = {0, 0}};
  describe(plan, finding);
  EXPECT_NE(text_finding(plan, finding, Style())
                .find("`call` of iteration 0 (queue `b`) clobbers [0, 8) of pool `hbm`"),
            std::string::npos);
}

TEST(TextReport, LongRunsAreCut) {
  const Plan plan = sample();
  Finding finding{.rule = Rule::kDeadlock};
  for (std::int64_t i = 0; i < 20; ++i) finding.witness.push_back({false, OpId{0}, i});
  const std::string text = text_finding(plan, finding, Style());
  EXPECT_NE(text.find("… 4 before, then start make@4, start make@5"), std::string::npos) << text;
}

TEST(OutcomeLine, SaysWhereTheSearchStopped) {
  Report report{.verdict = Verdict::kUnsafe};
  report.findings.resize(2);
  report.stats.pairs_checked = 12;
  EXPECT_EQ(outcome_line(report), "unsafe, 12 pairs checked, 2 findings");
  report.stopped_at_max_findings = true;
  EXPECT_EQ(outcome_line(report),
            "unsafe, 12 pairs checked, 2 findings (stopped at --max-findings)");
  report.errors.resize(1);
  EXPECT_EQ(outcome_line(report), "error, 1 error");
}

TEST(ReportExitCode, InternalErrorHidesTheVerdict) {
  Report report{.verdict = Verdict::kUnsafe};
  EXPECT_EQ(exit_code(report), ExitCode::kUnsafe);
  report.internal_errors = {"the run does not replay"};
  EXPECT_EQ(exit_code(report), ExitCode::kInternal);
}

}  // namespace
}  // namespace memverify
