// tools/lanes.h -- a run as text: one lane per queue, time from left to right.
#pragma once

#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/plan.h"

namespace memverify {

/// The steps of `run`, numbered, a line each: " 3  start     `U` on queue `compute`".
std::string step_lines(const Plan& plan, const std::vector<Step>& run);

/// One line for each queue (or thread, for host waits) that the run uses, more where its commands
/// overlap: "dma      [load_A==]". A command that does not complete ends in '>'. Columns are steps;
/// runs of more than kMostLaneSteps steps show their end only.
std::string lane_lines(const Plan& plan, const std::vector<Step>& run);

inline constexpr std::size_t kMostLaneSteps = 40;

}  // namespace memverify
