// The reference and the solver against the labels of the corpus: they were made by two other
// references, so a mismatch is a fault here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "sim/replay.h"
#include "tests/support/describe_result.h"
#include "tests/support/reference.h"
#include "verify/smt_verify.h"

namespace memverify::testing {
namespace {

namespace fs = std::filesystem;

nlohmann::json expectation(const fs::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file).at("x-expect");
}

/// Every X.<verdict>.json. By name, for this runs once per test.
std::vector<fs::path> labelled_plans() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(MEMVERIFY_CORPUS)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".json") continue;
    const fs::path verdict = path.stem().extension();
    if (verdict == ".safe" || verdict == ".unsafe" || verdict == ".unknown") found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

/// Everything a finding points at.
std::set<std::string> named(const Plan& plan, const Finding& finding) {
  std::set<std::string> names;
  for (const OpId op : finding.ops) names.emplace(plan.ops[op].name);
  for (const TensorId tensor : finding.tensors) names.emplace(plan.tensors[tensor].name);
  for (const StorageId storage : finding.storages) names.emplace(plan.storages[storage].name);
  if (finding.pool != kNone<PoolId>) names.emplace(plan.pools[finding.pool].name);
  return names;
}

bool matches(const Plan& plan, const Finding& finding, const nlohmann::json& wanted) {
  const auto rule = wanted[0].get<std::string>();
  if (info(finding.rule).id != rule) return false;
  const std::vector<std::string> ids(wanted.begin() + 1, wanted.end());
  if (rule <= "MV103") {
    std::vector<std::string> ops;
    for (const OpId op : finding.ops) ops.emplace_back(plan.ops[op].name);
    return ops == ids;
  }
  const std::set<std::string> names = named(plan, finding);
  const auto is_named = [&](const std::string& id) { return names.contains(id); };
  const bool one_is_enough = rule == "MV106" || rule == "MV111" || rule == "MV112";
  return one_is_enough ? ids.empty() || std::ranges::any_of(ids, is_named)
                       : std::ranges::all_of(ids, is_named);
}

void expect_label(const Plan& plan, const EngineResult& result, const fs::path& path) {
  const nlohmann::json wanted = expectation(path);
  EXPECT_EQ(name(result.verdict), wanted["verdict"].get<std::string>()) << describe(plan, result);
  for (const nlohmann::json& finding : wanted["findings"]) {
    EXPECT_TRUE(std::ranges::any_of(result.findings,
                                    [&](const Finding& f) { return matches(plan, f, finding); }))
        << finding << " is not among\n"
        << describe(plan, result);
  }
}

class ReferenceCorpus : public ::testing::TestWithParam<fs::path> {};

TEST_P(ReferenceCorpus, AgreesWithTheLabel) {
  const Result<Plan> read = read_plan_file(GetParam().string());
  ASSERT_TRUE(read.ok()) << to_string(read.errors()[0]);
  const Plan& plan = read.value();
  const EngineResult result = reference(plan, {});
  // The reference executes runs that end.
  ASSERT_EQ(refused(result), !plan.iterations) << describe(plan, result);
  if (refused(result)) return;
  expect_label(plan, result, GetParam());
}

class SolverCorpus : public ::testing::TestWithParam<fs::path> {};

TEST_P(SolverCorpus, AgreesWithTheLabel) {
  const Result<Plan> read = read_plan_file(GetParam().string());
  ASSERT_TRUE(read.ok()) << to_string(read.errors()[0]);
  const Plan& plan = read.value();
  const EngineResult result = verify_smt(plan, {});
  if (!plan.iterations && result.verdict == Verdict::kUnknown) {
    // The solver looks at the first iterations: it finds what goes wrong there, and proves nothing.
    EXPECT_EQ(expectation(GetParam())["verdict"], "safe");
    return;
  }
  expect_label(plan, result, GetParam());
  for (const Finding& finding : result.findings) {
    if (finding.witness.empty()) continue;
    const ReplayResult replayed = replay(plan, finding);
    EXPECT_TRUE(replayed.confirmed) << info(finding.rule).id << ": " << replayed.reason;
  }
}

std::string test_name(const ::testing::TestParamInfo<fs::path>& param) {
  std::string name = fs::relative(param.param, MEMVERIFY_CORPUS).string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Labels, ReferenceCorpus, ::testing::ValuesIn(labelled_plans()), test_name);
INSTANTIATE_TEST_SUITE_P(Labels, SolverCorpus, ::testing::ValuesIn(labelled_plans()), test_name);

}  // namespace
}  // namespace memverify::testing
