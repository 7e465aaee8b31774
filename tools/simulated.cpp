#include "tools/simulated.h"

#include <utility>

namespace memverify {

void adopt_search(Report& report, EngineResult result, const SimOptions& options, SimStats stats) {
  report.verdict = result.verdict;
  report.engines.emplace_back("sim", result.verdict);
  report.decided_by = "sim";
  report.findings = std::move(result.findings);
  report.stopped_at_max_findings = result.stopped_at_max_findings;
  report.stats = result.stats;
  report.search = SearchReport{.states = stats.states,
                               .transitions = stats.transitions,
                               .runs = stats.runs,
                               .failing_runs = stats.failing_runs,
                               .random_bound = stats.random_bound,
                               .random_depth = options.random_depth,
                               .seed = options.seed,
                               .interleavings = std::move(stats.interleavings),
                               .failing = std::move(stats.failing),
                               .reduction = options.reduction,
                               .complete = stats.complete};
}

}  // namespace memverify
