// tools/stepped_run.h -- the run of a finding step by step, and what the clashing bytes hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/finding.h"
#include "sim/bytes.h"
#include "sim/state.h"

namespace memverify {

/// From this step on the bytes hold that.
struct VersionStep {
  std::size_t step = 0;  ///< 0: before the first one; k: after the k-th.
  sim::Value::Base base = sim::Value::Base::kNothing;
  bool clobbered = false;
  OpId op = kNone<OpId>;  ///< Whose bytes these are, or who is writing.
  std::int64_t iteration = 0;
  std::size_t updates = 0;           ///< Accumulates on top.
  TensorId given = kNone<TensorId>;  ///< kInitial: whose value.
};

/// Bytes that the same accesses touch, over the run.
struct VersionRow {
  ByteRange bytes;
  std::vector<VersionStep> versions;  ///< Ascending by step; at least the one of step 0.
};

/// A read that starts in the run: does it find what it means?
struct StepRead {
  std::size_t step = 0;  ///< The k-th, counting from 1, is its start.
  std::size_t row = 0;
  TensorId tensor = kNone<TensorId>;
  bool meets = true;            ///< It finds the version that it expects.
  OpId expected = kNone<OpId>;  ///< kNone: the initial value, or nothing at all.
  std::int64_t expected_iteration = 0;
  bool expects_nothing = false;  ///< Nothing has written these bytes (MV105).
};

struct SteppedRun {
  std::vector<VersionRow> rows;  ///< Of `finding.bytes`, at most 16.
  std::vector<StepRead> reads;
  std::string problem;  ///< Why there are no rows; "" if there are, or the finding has no bytes.
};

/// Executes `finding.witness` on the bytes of the finding. Cost: linear in the plan, as often as
/// it repeats up to the last step.
SteppedRun stepped_run(const Plan& plan, const Finding& finding);

}  // namespace memverify
