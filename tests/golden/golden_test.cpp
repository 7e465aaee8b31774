// The corpus: every plan X.json says what is expected of it (`x-expect`), and X.expected holds the
// whole text report. Regenerate with MEMVERIFY_UPDATE_GOLDEN=1, then read the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/process.h"
#include "tools/report_json.h"
#include "tools/report_text.h"
#include "tools/verify_file.h"

namespace memverify::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<fs::path> plans_in(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(MEMVERIFY_CORPUS) / folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safe.json") || name.ends_with(".unsafe.json") ||
        name.ends_with(".unknown.json")) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

Report report_on(const fs::path& path) {
  return verify_file(path.string(), select_engines("hb"), EngineOptions{});
}

/// Everything a finding points at.
std::set<std::string> named(const Json& finding) {
  std::set<std::string> ids;
  for (const char* list : {"ops", "tensors", "storages"}) {
    for (const Json& id : finding[list]) ids.insert(id.get<std::string>());
  }
  for (const char* one : {"pool", "semaphore", "event", "queue"}) {
    if (finding.contains(one)) ids.insert(finding[one].get<std::string>());
  }
  return ids;
}

bool is_race(const std::string& rule) {
  return rule == "MV101" || rule == "MV102" || rule == "MV103";
}

/// Whether `finding` is what `wanted`, [rule, ids…], asks for. Where several ids are right for a
/// rule (any op of a deadlock), one is enough.
bool matches(const Json& finding, const Json& wanted) {
  const std::string rule = wanted[0];
  if (finding["rule"] != rule) return false;
  const std::vector<std::string> ids(wanted.begin() + 1, wanted.end());
  if (is_race(rule)) return finding["ops"] == Json(ids);
  if (ids.empty()) return true;
  const std::set<std::string> have = named(finding);
  const auto known = [&](const std::string& id) { return have.contains(id); };
  const bool some = rule == "MV106" || rule == "MV111" || rule == "MV112";
  return some ? std::ranges::any_of(ids, known) : std::ranges::all_of(ids, known);
}

/// What the happens-before engine may leave undecided.
bool beyond_happens_before(const Plan& plan) {
  return !plan.iterations || std::ranges::any_of(plan.waits, &Wait::consume) ||
         std::ranges::any_of(plan.symbols, [](const Symbol& symbol) { return !symbol.max; });
}

void expect_labels_hold(const fs::path& path) {
  SCOPED_TRACE(path.string());
  const Report report = report_on(path);
  const Json want = Json::parse(read_text(path))["x-expect"];
  const Json got = Json::parse(json_report(report, JsonLayout::kOneLine));
  EXPECT_EQ(report.internal_errors, std::vector<std::string>{});
  if (got["verdict"] == "unknown" && report.errors.empty() && beyond_happens_before(report.plan)) {
    EXPECT_EQ(got["findings"][0]["rule"], "MV201");
    return;
  }
  EXPECT_EQ(got["verdict"], want["verdict"]) << text_errors(report.errors, Style());
  if (!report.errors.empty()) return;
  EXPECT_EQ(exit_code(report), want["verdict"] == "safe"     ? ExitCode::kSafe
                               : want["verdict"] == "unsafe" ? ExitCode::kUnsafe
                                                             : ExitCode::kUnknown);
  const Json& findings = got["findings"];
  for (const Json& wanted : want.value("findings", Json::array())) {
    EXPECT_TRUE(std::ranges::any_of(findings, [&](const Json& f) { return matches(f, wanted); }))
        << "missing " << wanted;
  }
  for (const Json& finding : findings) {
    EXPECT_TRUE(want["verdict"] != "safe" || finding["severity"] != "error") << finding;
  }
}

void expect_report_unchanged(const fs::path& path) {
  SCOPED_TRACE(path.string());
  const Report report = report_on(path);
  ASSERT_TRUE(report.errors.empty());
  const std::string actual = text_report(report, Style());
  fs::path expected = path;
  expected.replace_extension(".expected");
  if (std::getenv("MEMVERIFY_UPDATE_GOLDEN") != nullptr) {
    if (read_text(expected) != actual) std::ofstream(expected) << actual;
    return;
  }
  EXPECT_EQ(actual, read_text(expected));
}

class Corpus : public ::testing::TestWithParam<const char*> {};

TEST_P(Corpus, LabelsHold) {
  const std::vector<fs::path> plans = plans_in(GetParam());
  ASSERT_FALSE(plans.empty());
  for (const fs::path& path : plans) expect_labels_hold(path);
}

TEST_P(Corpus, ReportsAreUnchanged) {
  for (const fs::path& path : plans_in(GetParam())) expect_report_unchanged(path);
}

INSTANTIATE_TEST_SUITE_P(Golden, Corpus, ::testing::Values("bugs", "format", "peers", "readme"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace memverify::testing
