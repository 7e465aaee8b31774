// Single runs on host threads: what is touched, what is found, what is shrunk.
#include "cuda_check/threads_device.h"

#include "cuda_check/check.h"
#include "cuda_check/scale.h"
#include "unit/cuda_check/plans.h"

namespace memverify::device {
namespace {

using device_test::plan_with;

CheckOptions on_threads(std::uint64_t runs = 5) {
  return {.runs = runs, .delays = DelayKind::kAdversarial, .make = [](const Job& job) {
            return make_threads_device(job, 2);
          }};
}

CheckResult checked(const Plan& plan, const CheckOptions& options = on_threads()) {
  Result<CheckResult> result = check(plan, options);
  if (!result.ok()) {
    ADD_FAILURE() << to_string(result.errors().front());
    return {};
  }
  return std::move(result).value();
}

std::string rules(const CheckResult& result) {
  std::string text;
  for (const Shown& shown : result.shown) text += std::string(info(shown.finding.rule).id) + " ";
  return text;
}

TEST(ThreadsDevice, FindsEachKindOfRace) {
  const auto race = [](const std::string& first, const std::string& second) {
    return rules(checked(plan_with(R"({"id": "v", "queue": "a", )" + first + R"(},
        {"id": "w", "queue": "b", )" + second +
                                       "}",
                                   R"("inputs": ["x"], "donated": ["x"], )")));
  };
  EXPECT_EQ(race(R"("reads": ["x"])", R"("writes": ["x"])"), "MV101 ");
  EXPECT_EQ(race(R"("writes": ["x"])", R"("reads": ["x"])"), "MV102 ");
  EXPECT_EQ(race(R"("writes": ["x"])", R"("writes": ["x"])"), "MV103 ");
  EXPECT_EQ(race(R"("accumulates": ["x"])", R"("writes": ["x"])"), "MV103 ");
  EXPECT_EQ(race(R"("accumulates": ["x"])", R"("accumulates": [{"tensor": "x", "op": "max"}])"),
            "MV103 ");
  EXPECT_EQ(race(R"("accumulates": ["x"])", R"("accumulates": ["x"])"), "");
  EXPECT_EQ(race(R"("reads": ["x"])", R"("clobbers": ["x"])"), "MV101 ");
  EXPECT_EQ(race(R"("reads": ["x"])", R"("reads": ["x"])"), "");
  EXPECT_EQ(race(R"("writes": [{"tensor": "x", "offset": 0, "bytes": 31}])",
                 R"("writes": [{"tensor": "x", "offset": 31}])"),
            "");
  EXPECT_EQ(race(R"("writes": [{"tensor": "x", "offset": 0, "bytes": 32}])",
                 R"("writes": [{"tensor": "x", "offset": 31}])"),
            "MV103 ");
}

TEST(ThreadsDevice, StridedElementsShareNoByteWithTheirGaps) {
  const std::string views = R"("tensors": [{"id": "x", "storage": "sx", "bytes": 64},
    {"id": "even", "view_of": "x", "dtype": "u8", "shape": [32], "strides": [2]},
    {"id": "odd", "view_of": "x", "offset": 1, "dtype": "u8", "shape": [32], "strides": [2]}], )";
  std::string text =
      R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "a"}, {"id": "b"}],
    "storages": [{"id": "sx", "pool": "hbm", "offset": 3, "bytes": 64}], )" +
      views;
  const auto plan = read_plan(text + R"("ops": [{"id": "v", "queue": "a", "writes": ["even"]},
    {"id": "w", "queue": "b", "writes": ["odd"]}], "outputs": ["even", "odd"]})",
                              "test");
  ASSERT_TRUE(plan.ok()) << to_string(plan.errors().front());
  EXPECT_EQ(checked(plan.value()).clean, 5U);
  const auto racy = read_plan(text + R"("ops": [{"id": "v", "queue": "a", "writes": ["even"]},
    {"id": "w", "queue": "b", "writes": ["x"]}]})",
                              "test");
  ASSERT_TRUE(racy.ok());
  const CheckResult result = checked(racy.value());
  ASSERT_EQ(rules(result), "MV103 ");
  const ByteRange bytes = result.shown.front().finding.bytes;  // Whichever they met at first.
  EXPECT_EQ(bytes.end - bytes.begin, 1) << bytes.begin;
  EXPECT_EQ((bytes.begin - 3) % 2, 0) << bytes.begin;
}

TEST(ThreadsDevice, ChecksTheEndAndSaysWhatIsThere) {
  const CheckResult lost = checked(plan_with(
      R"({"id": "v", "queue": "a", "clobbers": [{"pool": "hbm", "offset": 8, "bytes": 3}]})",
      R"("inputs": ["x"], )"));
  ASSERT_EQ(rules(lost), "MV106 ");
  EXPECT_EQ(lost.shown.front().finding.bytes, (ByteRange{8, 11}));
  EXPECT_NE(lost.shown.front().seen.find("what `v` clobbered"), std::string::npos);
  const CheckResult unwritten = checked(plan_with(R"({"id": "v", "queue": "a", "reads": ["y"]})"));
  EXPECT_EQ(rules(unwritten), "MV105 ");
}

TEST(ThreadsDevice, ChecksumsAreThoseOfThePlan) {
  const Plan plan =
      plan_with(R"({"id": "v", "queue": "a", "writes": ["x"]})", R"("outputs": ["x"], )");
  const CheckResult a = checked(plan);
  const CheckResult b = checked(plan, on_threads(1));
  ASSERT_EQ(a.checksums.size(), 1U);
  EXPECT_EQ(a.checksums, b.checksums);
}

TEST(ThreadsDevice, TheSameSeedDrawsTheSameDelays) {
  const Plan plan = plan_with(R"({"id": "v", "queue": "a", "writes": ["x"]},
                                 {"id": "w", "queue": "b", "writes": ["y"]})");
  const Result<Calls> calls = lower(plan, settle(plan, 1));
  ASSERT_TRUE(calls.ok());
  const auto drawn = [&](DelayKind kind, std::uint64_t seed, std::uint64_t run) {
    std::string text;
    for (const Delay& delay :
         draw_delays(plan, calls.value(), kind, seed, run, Microseconds(100))) {
      EXPECT_LE(delay.before.count(), 100);
      text += std::to_string(delay.before.count()) + "," + std::to_string(delay.inside.count()) +
              (delay.until_idle ? "!" : "") + " ";
    }
    return text;
  };
  for (const DelayKind kind :
       {DelayKind::kUniform, DelayKind::kPerQueue, DelayKind::kAdversarial}) {
    EXPECT_EQ(drawn(kind, 1, 2), drawn(kind, 1, 2));
    EXPECT_NE(drawn(kind, 1, 2), drawn(kind, 1, 3));
    EXPECT_EQ(parse_delay_kind(name(kind)), kind);
  }
  EXPECT_NE(drawn(DelayKind::kUniform, 1, 2), drawn(DelayKind::kUniform, 2, 2));
}

TEST(Scale, KeepsWhatOverlaps) {
  const auto text = [](const std::string& second) {
    return R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "a"}, {"id": "b"}],
      "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 4000000007}],
      "tensors": [{"id": "x", "storage": "s", "bytes": 2000000003},
                  {"id": "y", "storage": "s", "offset": )" +
           second + R"(, "bytes": 2000000003}],
      "ops": [{"id": "v", "queue": "a", "writes": ["x"]}, {"id": "w", "queue": "b", "writes": ["y"]}]})";
  };
  CheckOptions options = on_threads();
  options.scale_bytes = 4096;
  const auto apart = read_plan(text("2000000003"), "test");
  const auto by_one = read_plan(text("2000000002"), "test");
  ASSERT_TRUE(apart.ok() && by_one.ok());
  const CheckResult clean = checked(apart.value(), options);
  EXPECT_EQ(clean.clean, 5U);
  EXPECT_LE(clean.bytes, 4096);
  EXPECT_GE(clean.unscaled_bytes, 4'000'000'006);
  const CheckResult racy = checked(by_one.value(), options);
  ASSERT_EQ(rules(racy), "MV103 ");
  EXPECT_EQ(racy.shown.front().finding.bytes.end - racy.shown.front().finding.bytes.begin, 1);
}

}  // namespace
}  // namespace memverify::device
