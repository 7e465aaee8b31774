// tests/device/corpus.h -- the labelled plans, and a case of each to run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_check/calls.h"
#include "cuda_check/lower.h"
#include "cuda_check/settled.h"
#include "plan/reader.h"

namespace memverify::device_test {

struct CorpusPlan {
  std::string name;
  Plan plan;
};

/// All that read well, of every folder, whose names end in `suffix`.
inline std::vector<CorpusPlan> corpus(std::string_view suffix) {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"bugs", "format", "peers", "readme"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(MEMVERIFY_CORPUS) / folder)) {
      if (entry.path().filename().string().ends_with(suffix)) paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<CorpusPlan> plans;
  for (const std::filesystem::path& path : paths) {
    Result<Plan> plan = read_plan_file(path.string());
    if (plan.ok()) plans.push_back({path.filename().string(), std::move(plan).value()});
  }
  return plans;
}

/// A case with every condition at `value`, and few iterations.
inline device::Settled settled(const Plan& plan, bool value) {
  device::Settled one =
      device::settle(plan, std::min<std::int64_t>(device::default_iterations(plan), 6));
  for (const ConditionId c : ids(plan.conditions)) {
    const std::int64_t count = plan.conditions[c].per_run ? 1 : one.unrolled;
    for (std::int64_t i = 0; i < count; ++i) one.conditions.set(c, i, value);
  }
  return one;
}

}  // namespace memverify::device_test
