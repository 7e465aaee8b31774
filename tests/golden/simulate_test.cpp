// What `memverify simulate` says: whole reports of a few plans, and of every plan of the corpus the
// numbers of states, transitions, interleavings and failing ones. One integer that changes tells of
// a state that was missed or met twice. Regenerate with MEMVERIFY_UPDATE_GOLDEN=1, then read the
// diff.
#include "sim/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "support/process.h"

namespace memverify::testing {
namespace {

namespace fs = std::filesystem;

void expect_unchanged(const std::string& name, const std::string& actual) {
  const fs::path file = fs::path(MEMVERIFY_SOURCE) / "tests/golden/simulate" / (name + ".expected");
  if (std::getenv("MEMVERIFY_UPDATE_GOLDEN") != nullptr) {
    if (read_text(file) != actual) std::ofstream(file) << actual;
    return;
  }
  EXPECT_EQ(actual, read_text(file)) << name;
}

class SimulateReport : public ::testing::TestWithParam<const char*> {};

TEST_P(SimulateReport, IsUnchanged) {
  const fs::path plan = fs::path(MEMVERIFY_CORPUS) / (std::string(GetParam()) + ".json");
  const Outcome run = Sandbox().run({"simulate", plan.string(), "--all"});
  EXPECT_EQ(run.err, "");
  expect_unchanged(plan.stem().string(), run.out);
}

INSTANTIATE_TEST_SUITE_P(Golden, SimulateReport,
                         ::testing::Values("bugs/b02-view-chain-hides-reader.unsafe",
                                           "bugs/b04-reuse-chain-crosses-queues.unsafe",
                                           "bugs/b16-same-base-different-row-stride.unsafe",
                                           "bugs/b70-credit-returned-at-issue.unsafe",
                                           "bugs/b90-wait-for-an-id-after-reset.unsafe",
                                           "readme/two_branches.unsafe",
                                           "readme/two_branches.safe"),
                         [](const auto& param) { return "Plan" + std::to_string(param.index); });

std::string counts_of(const Plan& plan) {
  SimOptions options;
  options.count = true;
  options.max_states = 200'000;
  SimStats stats;
  const EngineResult result = simulate(plan, options, stats);
  std::string text(name(result.verdict));
  if (!stats.stopped.empty()) return text + ", stopped\n";
  return text + ", " + std::to_string(stats.states) + " states, " +
         std::to_string(stats.transitions) + " transitions, fails in " + stats.failing + " of " +
         stats.interleavings + (stats.complete ? "" : ", not exhaustive") + "\n";
}

TEST(SimulateCounts, AreUnchangedOverTheCorpus) {
  std::vector<fs::path> plans;
  for (const char* folder : {"bugs", "format", "peers", "readme"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(MEMVERIFY_CORPUS) / folder)) {
      if (entry.path().extension() == ".json") plans.push_back(entry.path());
    }
  }
  std::ranges::sort(plans);
  ASSERT_GT(plans.size(), 300U);
  std::string actual;
  for (const fs::path& path : plans) {
    const Result<Plan> plan = read_plan_file(path.string());
    if (plan.ok()) actual += path.stem().string() + ": " + counts_of(plan.value());
  }
  expect_unchanged("counts", actual);
}

}  // namespace
}  // namespace memverify::testing
