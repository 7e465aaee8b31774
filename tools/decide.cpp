#include "tools/decide.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/shrink.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

constexpr const char* kDisagreementFile = "memverify-disagreement.json";
constexpr auto kShrinkTime = std::chrono::seconds(10);
constexpr std::size_t kMostOpsToShrink = 1000;

bool contradict(Verdict a, Verdict b) {
  return a != b && a != Verdict::kUnknown && b != Verdict::kUnknown;
}

/// A smaller plan on which the two engines contradict each other as well.
std::string shrunk(const Plan& plan, const Engine& one, const Engine& other,
                   const EngineOptions& options) {
  const std::string text = write_plan(plan);
  if (plan.ops.size() > kMostOpsToShrink) return text;
  const auto end = std::chrono::steady_clock::now() + kShrinkTime;
  const PlanJson small = shrink(PlanJson::parse(text), [&](const PlanJson& candidate) {
    if (std::chrono::steady_clock::now() > end) return false;
    const Result<Plan> smaller = read_plan(candidate.dump(), "");
    return smaller.ok() && cannot_be_verified(smaller.value()).empty() &&
           contradict(one.run(smaller.value(), options).verdict,
                      other.run(smaller.value(), options).verdict);
  });
  return small.dump(1) + "\n";
}

std::string disagreement(const Plan& plan, const Engine& one, Verdict by_one, const Engine& other,
                         Verdict by_other, const EngineOptions& options) {
  const std::string problem = replace_file(kDisagreementFile, shrunk(plan, one, other, options));
  return "the engines disagree: " + std::string(one.name) + " says " + std::string(name(by_one)) +
         ", " + std::string(other.name) + " says " + std::string(name(by_other)) + "; " +
         (problem.empty() ? std::string("a small such plan is in ") + kDisagreementFile : problem);
}

void adopt(EngineResult&& result, const Engine& engine, Report& report) {
  report.decided_by = engine.name;
  report.verdict = result.verdict;
  report.findings = std::move(result.findings);
  report.stopped_at_max_findings = result.stopped_at_max_findings;
  report.stats = result.stats;
}

}  // namespace

bool gave_up(const EngineResult& result) {
  return std::ranges::any_of(result.findings, [](const Finding& finding) {
    return finding.rule == Rule::kNotProven && finding.ops.empty();
  });
}

void decide(Report& report, const EngineChoice& choice, const EngineOptions& options) {
  const Engine* decider = nullptr;
  bool open = true;
  for (const Engine* engine : choice.engines) {
    EngineResult result = engine->run(report.plan, options);
    const Verdict verdict = result.verdict;
    const bool left_open = verdict == Verdict::kUnknown && gave_up(result);
    report.engines.emplace_back(engine->name, verdict);
    if (decider == nullptr || (open && !left_open)) {
      adopt(std::move(result), *engine, report);
      decider = engine;
      open = left_open;
    } else if (contradict(verdict, report.verdict)) {
      report.internal_errors.push_back(
          disagreement(report.plan, *decider, report.verdict, *engine, verdict, options));
    }
    if (!choice.all && !left_open) break;
  }
}

}  // namespace memverify
