// `memverify device FILE` as a user meets it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/plans.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class CliDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("NO_COLOR");
    box_.write("safe.json", safe_plan());
    box_.write("unsafe.json", unsafe_plan());
    box_.write("bad.json", bad_plan());
    box_.write("unplaced.json", unplaced_plan());
    box_.write("large.json", R"({"memverify": 1, "pools": [{"id": "hbm"}], "queues": [{"id": "q"}],
      "storages": [{"id": "s", "pool": "hbm", "offset": 0, "bytes": 1099511627776}],
      "tensors": [{"id": "x", "storage": "s", "bytes": 1099511627776},
                  {"id": "half", "view_of": "x", "offset": 549755813888, "bytes": 549755813888}],
      "ops": [{"id": "w", "queue": "q", "writes": ["x"]}, {"id": "r", "queue": "q", "reads": ["half"]}]})");
  }
  Outcome device(Words arguments) const {
    arguments.insert(arguments.begin(), "device");
    return box_.run(arguments);
  }
  Sandbox box_;
};

TEST_F(CliDevice, CleanRunsExitWithZeroAndAreNoProof) {
  const Outcome run = device({"safe.json", "--runs", "10"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "evidence and not proof")) << run.out;
  EXPECT_TRUE(contains(run.out, "memverify: clean, 10 runs, 0 findings\n")) << run.out;
}

TEST_F(CliDevice, AWitnessMakesTheMismatchHappenEveryTime) {
  ASSERT_EQ(box_.run({"simulate", "unsafe.json", "--witness", "run.json"}).exit_code, 1);
  const Outcome run = device({"unsafe.json", "--witness", "run.json", "--runs", "25"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(contains(run.out, "MV102")) << run.out;
  EXPECT_TRUE(contains(run.out, "in:       25 of 25 runs")) << run.out;
  EXPECT_TRUE(contains(run.out, "memverify: mismatch, 25 runs, 0 clean, 1 finding\n")) << run.out;
}

TEST_F(CliDevice, FuzzingNamesReaderBytesWriterRunAndSeed) {
  const Outcome run =
      device({"unsafe.json", "--delays", "adversarial", "--seed", "7", "--format", "json"});
  ASSERT_EQ(run.exit_code, 1) << run.err;
  const Json result = Json::parse(run.out);
  EXPECT_EQ(result["engines"], Json({{"device", "unsafe"}}));
  EXPECT_EQ(result["device"]["seed"], 7);
  const Json& finding = result["findings"][0];
  EXPECT_EQ(finding["rule"], "MV102");
  EXPECT_EQ(finding["ops"], Json({"make_x", "send_x"}));
  EXPECT_EQ(finding["bytes"], Json({0, 64}));
  EXPECT_TRUE(contains(finding["seen"], "`send_x` finds")) << finding;
}

TEST_F(CliDevice, ADeadlockSaysWhoWaitsForWhat) {
  box_.write("stuck.json", two_op_plan("stuck", R"({"id": "send_x", "queue": "dma", "reads": ["x"],
                                     "waits": [{"semaphore": "n"}]})"));
  std::string plan = read_text(box_.path("stuck.json"));
  plan.replace(plan.find("\"queues\""), 0, "\"semaphores\": [{\"id\": \"n\"}], ");
  box_.write("stuck.json", plan);
  const Outcome run = device({"stuck.json", "--runs", "2"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(contains(run.out, "stuck: `send_x` waits for semaphore `n` to reach 1\n")) << run.out;
}

TEST_F(CliDevice, WithoutAGpuCudaIsRefused) {
  if (box_.run_shell("ls /dev/nvidia0").exit_code == 0) GTEST_SKIP() << "there is a GPU";
  const Outcome run = device({"safe.json", "--device", "cuda"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "no GPU can be used")) << run.err;
}

TEST_F(CliDevice, APlanThatDoesNotFitIsRefusedOrShrunk) {
  const Outcome fits = device({"large.json", "--check-fit"});
  EXPECT_EQ(fits.exit_code, 2);
  EXPECT_TRUE(contains(fits.err, "needs 1099511627776 bytes of memory")) << fits.err;
  const Outcome shrunk = device({"large.json", "--check-fit", "--scale", "bytes=65536"});
  EXPECT_EQ(shrunk.exit_code, 0) << shrunk.err;
  EXPECT_TRUE(contains(shrunk.out, "shrunk from 1099511627776")) << shrunk.out;
}

TEST_F(CliDevice, BadInputExitsWithTwo) {
  for (const Words& arguments : std::vector<Words>{{"bad.json"},
                                                   {"unplaced.json"},
                                                   {"missing.json"},
                                                   {"safe.json", "--delays", "some"},
                                                   {"safe.json", "--runs", "0"},
                                                   {"safe.json", "--scale", "bytes=x"},
                                                   {"safe.json", "--symbol", "n=1"},
                                                   {"safe.json", "--witness", "missing.json"},
                                                   {}}) {
    const Outcome run = device(arguments);
    EXPECT_EQ(run.exit_code, 2) << (arguments.empty() ? "" : arguments.back());
    EXPECT_NE(run.err, "");
  }
}

TEST_F(CliDevice, VerifyCanAskTheDeviceToo) {
  const Outcome safe = box_.run({"verify", "safe.json", "--with-device", "--format", "json"});
  EXPECT_EQ(safe.exit_code, 0) << safe.err;
  EXPECT_EQ(Json::parse(safe.out)["engines"]["device"], "unknown");
  const Outcome unsafe = box_.run({"verify", "unsafe.json", "--with-device", "--format", "json"});
  EXPECT_EQ(unsafe.exit_code, 1) << unsafe.err;
  EXPECT_EQ(Json::parse(unsafe.out)["engines"]["device"], "unsafe");
}

}  // namespace
}  // namespace memverify::testing
