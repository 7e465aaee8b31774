// tools/fuzz_run.h -- `memverify fuzz`: a campaign from its options to its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/campaign.h"
#include "tools/exit_code.h"
#include "tools/planner_process.h"

namespace memverify {

struct FuzzOptions {
  std::string strategy;    ///< Or
  ProcessOptions process;  ///< a command.
  std::string planner_version;
  std::string engine = "auto";
  std::string mutate;  ///< "" or "plans".
  std::vector<std::string> corpus;
  std::uint64_t seed = 1;
  std::uint64_t cases = 1000;
  Shard shard;
  std::uint64_t max_findings = 0;
  bool shrinks = true;
  std::string db;
  std::string save;
  bool coverage = false;
  bool json = false;
};

/// Prints. kUnsafe: there are findings; kUnknown: none, but cases that no engine decides.
ExitCode run_fuzz(const FuzzOptions& options);

/// `memverify fuzz report` and `memverify fuzz merge`.
ExitCode report_campaign(const std::string& db, const std::string& save, bool json);
ExitCode merge_campaigns(const std::vector<std::string>& inputs, const std::string& output);

}  // namespace memverify
