// Every plan of the corpus is read, and read -> write -> read -> write is a fixed point.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "plan/writer.h"

namespace memverify {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus() {
  std::vector<std::string> files;
  for (const char* folder : {"bugs", "peers", "format", "readme"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(MEMVERIFY_CORPUS) / folder)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string errors(const Result<Plan>& plan) {
  std::string all;
  if (!plan.ok()) {
    for (const Diagnostic& error : plan.errors()) all += to_string(error) + "\n";
  }
  return all;
}

TEST(Corpus, EveryPlanIsReadAndWrittenBackTheSame) {
  const std::vector<std::string> files = corpus();
  ASSERT_GT(files.size(), 200U);
  for (const std::string& file : files) {
    const Result<Plan> first = read_plan_file(file);
    ASSERT_TRUE(first.ok()) << errors(first);
    const std::string text = write_plan(first.value());
    const Result<Plan> second = read_plan(text, file);
    ASSERT_TRUE(second.ok()) << errors(second) << text;
    EXPECT_EQ(write_plan(second.value()), text) << file;
    EXPECT_EQ(second.value().ops.size(), first.value().ops.size());
    EXPECT_EQ(second.value().accesses.size(), first.value().accesses.size());
  }
}

}  // namespace
}  // namespace memverify
