// tools/planner_process.h -- somebody else's planner, run as a process and never trusted.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/fuzz_target.h"

namespace memverify {

struct ProcessOptions {
  /// For /bin/sh. `{in}` and `{out}` stand for files: the graph, and where the plan goes. Without
  /// `{in}` the graph is its standard input, without `{out}` the plan its standard output.
  std::string command;
  bool persistent = false;  ///< One process for all graphs: a line of JSON each way.
  double timeout = 10;      ///< Seconds for one graph, > 0.
};

/// What such a planner answers becomes: kTimedOut (its process group is killed), kCrashed (a
/// signal, or an exit code other than 0), kRefused (it says `{"refused": "why"}`), kGarbage (no
/// plan, or one with tensors that have no place), kChanged (a plan of another graph), or a plan. A
/// persistent planner that failed in one of the first two ways is started again for the next graph.
std::unique_ptr<FuzzTarget> process_target(const ProcessOptions& options);

/// What `plan` says otherwise than `graph`, as a clause; "": it is the graph with places for its
/// tensors, and maybe with more waits, signals and sync commands.
std::string what_changed(const Plan& graph, const Plan& plan);

}  // namespace memverify
