// tools/drawn_run.h -- the one run of a plan that pictures show: when each command starts and ends.
//
// A plan allows many runs; a picture has one time axis. It shows the eager run of one case: every
// instant as soon as it may. In *levels* each op takes 1 and all other commands 0, so that an op's
// level is the length of the longest chain of ops that must complete before it; in *ticks* each
// takes the most that the plan says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "plan/layout.h"
#include "sim/program.h"

namespace memverify {

enum class DrawnTime : std::uint8_t { kLevels, kTicks };

/// Half-open; both -1: the command never starts in this run.
struct DrawnSpan {
  std::int64_t start = -1;
  std::int64_t end = -1;  ///< -1 with a start: it never completes.
};

/// A completion that a start waits for, other than by the order of its queue or thread.
struct DrawnSync {
  sim::CommandId from = kNone<sim::CommandId>;
  sim::CommandId to = kNone<sim::CommandId>;
  sim::Need::Reason reason = sim::Need::Reason::kAfter;
  bool is_semaphore = false;  ///< `from` is the signal that met the count in this run.
};

struct DrawnRun {
  sim::Case settled;
  Layout layout;
  sim::Program program;
  DrawnTime time = DrawnTime::kLevels;
  Table<sim::CommandId, DrawnSpan> spans;
  std::int64_t end = 0;   ///< The last completion.
  std::size_t stuck = 0;  ///< Commands that never complete in this run.
  /// By entry of program.semaphore_needs: the last signal before the start; kNone: no signal.
  std::vector<sim::CommandId> met_by;
};

/// What the plan leaves open, settled: with a finding the values that it names and those that its
/// run needs, else the greatest value of each symbol (the least of one that has no bound) and every
/// condition true. The first `iterations` of the plan are made, fewer where there are fewer.
sim::Case drawn_case(const Plan& plan, const Finding* finding, std::int64_t iterations);

/// Draws the case of the first of `findings` that has a run. All tensors must be placed. Errors:
/// those of Layout::make and of sim::make_program. Cost: n log n in the commands, and for waits for
/// counts those that are waiting, at each completion.
Result<DrawnRun> draw_run(const Plan& plan, const std::vector<Finding>& findings, DrawnTime time);

/// Syncs by their waiting command. Cost: linear in the needs.
std::vector<DrawnSync> drawn_syncs(const DrawnRun& run);

}  // namespace memverify
