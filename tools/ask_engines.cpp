#include "tools/ask_engines.h"

#include <algorithm>
#include <string>
#include <utility>

namespace memverify {
namespace {

void adopt(EngineResult&& result, const Engine& engine, Report& report) {
  report.decided_by = engine.name;
  report.verdict = result.verdict;
  report.findings = std::move(result.findings);
  report.stopped_at_max_findings = result.stopped_at_max_findings;
  report.stats = result.stats;
}

std::string said(const Engine& engine, Verdict verdict) {
  return std::string(engine.name) + " says " + std::string(name(verdict));
}

}  // namespace

bool contradict(Verdict a, Verdict b) {
  return a != b && a != Verdict::kUnknown && b != Verdict::kUnknown;
}

bool gave_up(const EngineResult& result) {
  return std::ranges::any_of(result.findings, [](const Finding& finding) {
    return finding.rule == Rule::kNotProven && finding.ops.empty();
  });
}

void ask_engines(Report& report, const EngineChoice& choice, const EngineOptions& options,
                 KeepDisagreement keep, const Layout* least) {
  const Engine* decider = nullptr;
  bool open = true;
  for (const Engine* engine : choice.engines) {
    EngineResult result = engine->run(report.plan, options, least);
    const Verdict verdict = result.verdict;
    const bool left_open = verdict == Verdict::kUnknown && gave_up(result);
    report.engines.emplace_back(engine->name, verdict);
    if (decider == nullptr || (open && !left_open)) {
      adopt(std::move(result), *engine, report);
      decider = engine;
      open = left_open;
    } else if (contradict(verdict, report.verdict)) {
      std::string words =
          "the engines disagree: " + said(*decider, report.verdict) + ", " + said(*engine, verdict);
      if (keep != nullptr) words += "; " + keep(report.plan, *decider, *engine, options);
      report.internal_errors.push_back(std::move(words));
    }
    if (!choice.all && !left_open) break;
  }
}

}  // namespace memverify
