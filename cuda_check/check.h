// cuda_check/check.h -- a plan on a device: many runs with drawn delays, or the one of a witness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda_check/delays.h"
#include "cuda_check/device.h"
#include "plan/finding.h"
#include "plan/result.h"

namespace memverify::device {

/// Makes the device on which a job runs. May throw what the device throws.
using MakeDevice = std::function<std::unique_ptr<Device>(const Job&)>;

struct CheckOptions {
  std::uint64_t runs = 20;  ///< >= 1.
  std::uint64_t seed = 1;
  DelayKind delays = DelayKind::kUniform;
  Microseconds longest{50};  ///< Of one delay.
  std::chrono::milliseconds timeout{5000};
  std::optional<std::int64_t> iterations = {};   ///< Instead of default_iterations().
  std::vector<SymbolValue> symbols = {};         ///< Others take their greatest value.
  std::vector<ConditionValue> when = {};         ///< Others are drawn anew for each run.
  std::optional<std::int64_t> scale_bytes = {};  ///< Shrink the pools to about so many bytes.
  MakeDevice make = {};                          ///< Must be set.
};

/// A fault that some run showed.
struct Shown {
  Finding finding;
  std::string seen;        ///< What was found in the bytes, as a sentence.
  std::uint64_t run = 0;   ///< The first run that showed it …
  std::uint64_t runs = 0;  ///< … and how many did.
};

struct CheckResult {
  std::vector<Shown> shown;  ///< Sorted by rule, then ops; no two alike ([S-51]).
  std::uint64_t runs = 0;
  std::uint64_t clean = 0;            ///< Runs that finished without a mismatch.
  std::vector<std::string> waiting;   ///< Of the first run that did not finish.
  std::vector<Checksum> checksums;    ///< Of the first run that finished.
  Settled settled;                    ///< The case of the first run.
  std::int64_t bytes = 0;             ///< Of device memory.
  std::int64_t unscaled_bytes = 0;    ///< Before `scale_bytes`.
  std::uint32_t unchecked_reads = 0;  ///< Of what unknown commands may have written.
  std::size_t streams = 0;
  std::size_t commands = 0;
  /// Of a witness: how many of its instants happened, of how many.
  std::size_t steps_done = 0, steps = 0;
};

/// Runs the plan `options.runs` times. Errors: those of Layout::make, lower() and make_work().
Result<CheckResult> check(const Plan& plan, const CheckOptions& options);

/// Follows the run of `witness`, `options.runs` times. Conditions that the witness leaves open are
/// set so that it can be followed. Errors besides: "witness.run", for a run that the plan's calls
/// cannot follow: says at which step.
Result<CheckResult> check_witness(const Plan& plan, const Finding& witness,
                                  const CheckOptions& options);

/// The bytes of device memory that the plan takes in its first case: what --check-fit compares.
Result<std::int64_t> bytes_needed(const Plan& plan, const CheckOptions& options);

/// [S-51], rules aside: of the same ops; MV106 of the same tensor.
bool is_about_the_same(const Finding& a, const Finding& b);

/// Whether some run showed what `finding` says: its rule, or one that it lists in `also`, of the
/// same ops. MV111: any deadlock.
bool shows(const CheckResult& result, const Finding& finding);

}  // namespace memverify::device
