#include "tools/ask_device.h"

#include <algorithm>
#include <string>

#include "cuda_check/check.h"
#include "cuda_check/threads_device.h"
#include "plan/writer.h"
#include "tools/report_json.h"

namespace memverify {
namespace {

constexpr std::uint64_t kDeviceRuns = 20;

/// Writes what a report of the bug needs; says where, or why not.
std::string keep(const Report& report, const device::Shown& shown) {
  const std::string plan = "memverify-device-plan.json";
  const std::string seen = "memverify-device-finding.json";
  std::string problem = replace_file(plan, write_plan(report.plan));
  if (problem.empty()) problem = replace_file(seen, json_finding(report.plan, shown.finding));
  return problem.empty() ? "kept in " + plan + " and " + seen : problem;
}

}  // namespace

void ask_device(Report& report) {
  const device::CheckOptions options{
      .runs = kDeviceRuns,
      .delays = device::DelayKind::kAdversarial,
      .make = [](const device::Job& job) { return device::make_threads_device(job, 2); }};
  const Result<device::CheckResult> result = device::check(report.plan, options);
  if (!result.ok()) return;  // Too large for it; the engines have decided anyway.
  const bool is_clean = result.value().shown.empty();
  report.engines.emplace_back("device", is_clean ? Verdict::kUnknown : Verdict::kUnsafe);
  if (is_clean || report.verdict != Verdict::kSafe) return;
  const device::Shown& shown = result.value().shown.front();
  report.internal_errors.push_back(
      "run " + std::to_string(shown.run) + " of seed " + std::to_string(options.seed) +
      " on the device shows a mismatch though the plan is safe: " + shown.seen + " (" +
      keep(report, shown) + ")");
}

}  // namespace memverify
