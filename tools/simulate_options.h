// tools/simulate_options.h -- what `memverify simulate` takes on its command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "sim/parts.h"
#include "sim/simulate.h"
#include "sim/timed.h"
#include "tools/command.h"
#include "tools/console.h"

namespace memverify {

struct SimulateArguments {
  std::string file;
  std::string replay;   ///< A witness file; "": none.
  std::string witness;  ///< Where to write one; "": nowhere.
  bool json = false;
  bool quiet = false;
  bool all = false;
  bool timed = false;
  ColorMode color = ColorMode::kAuto;
  SimOptions options;
  TimedOptions timed_options;
  SimShard shard;                    ///< With `save`.
  std::string save;                  ///< Where to write what the part saw; "": this is no part.
  std::vector<std::string> join;     ///< Such files; empty: search.
  std::vector<std::string> symbols;  ///< "n=64"
  std::vector<std::string> when;     ///< "training=true"
};

/// The exit code when that is the end of it, as of parse().
std::optional<ExitCode> parse_simulate(const Arguments& given, SimulateArguments& arguments);

/// Looks up the names in `symbols` and `when`, and fills the options with their values. "" or what
/// is wrong with them.
std::string settle(const Plan& plan, SimulateArguments& arguments);

}  // namespace memverify
