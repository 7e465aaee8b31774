#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "plan/reader.h"
#include "tools/command.h"

namespace memverify {
namespace {

const std::string kReport = MEMVERIFY_CORPUS "/imports/st-edge-ai/sww_c_info.json";

class ImportCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("memverify_import_") + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

TEST_F(ImportCommand, WritesAPlanThatReadsBack) {
  ASSERT_EQ(import_command({"st-edge-ai", kReport, "-o", path("plan.json")}), ExitCode::kSafe);
  const Result<Plan> plan = read_plan_file(path("plan.json"));
  ASSERT_TRUE(plan.ok()) << to_string(plan.errors().front());
  EXPECT_EQ(plan.value().ops.size(), 10U);
  EXPECT_EQ(plan.value().extras.size(), 1U);
}

TEST_F(ImportCommand, PrintsThePlanAndBesideItTheAssumptions) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(import_command({"st-edge-ai", kReport, "--assumptions"}), ExitCode::kSafe);
  const std::string assumptions = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(read_plan(::testing::internal::GetCapturedStdout(), "stdout").ok());
  EXPECT_NE(assumptions.find("The nodes run one after another"), std::string::npos);
}

TEST_F(ImportCommand, LeavesTheOldPlanAloneWhenTheFileIsBad) {
  std::ofstream(path("plan.json")) << "old";
  std::ofstream(path("cut.json")) << R"({"buffers": [)";
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(import_command({"st-edge-ai", path("cut.json"), "-o", path("plan.json")}),
            ExitCode::kBadInput);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("cut.json:1:14"), std::string::npos);
  std::string left;
  std::ifstream(path("plan.json")) >> left;
  EXPECT_EQ(left, "old");
}

TEST_F(ImportCommand, RefusesWhatItCannotFind) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(import_command({"st-edge-ai", path("none.json")}), ExitCode::kBadInput);
  EXPECT_EQ(import_command({"st-edge-a", kReport}), ExitCode::kBadInput);
  EXPECT_EQ(import_command({"st-edge-ai"}), ExitCode::kBadInput);
  EXPECT_EQ(import_command({"st-edge-ai", kReport, "-o", path("no/such/folder/plan.json")}),
            ExitCode::kBadInput);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("st-edge-ai"), std::string::npos);
}

}  // namespace
}  // namespace memverify
