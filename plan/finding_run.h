// plan/finding_run.h -- how much of a plan must run to show a finding. For what replays runs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/finding.h"

namespace memverify {

/// Whether what comes after the witness can matter.
inline bool looks_at_the_end(const Finding& finding) {
  const Rule rule = finding.rule;
  return rule == Rule::kBoundary || rule == Rule::kDeadlock || rule == Rule::kLifetime ||
         (rule == Rule::kUnwritten && finding.ops.empty());
}

/// The last iteration that the finding or its witness names, that of the write it expects included.
inline std::int64_t last_iteration(const Finding& finding) {
  std::int64_t last = finding.expected == kNone<OpId> ? 0 : finding.expected_iteration;
  for (const Step& step : finding.witness) last = std::max(last, step.iteration);
  for (const std::int64_t iteration : finding.iteration) last = std::max(last, iteration);
  return std::max<std::int64_t>(last, 0);
}

}  // namespace memverify
