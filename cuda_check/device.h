// cuda_check/device.h -- the one interface behind which plans run: host threads, or a GPU.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cuda_check/calls.h"
#include "cuda_check/delays.h"
#include "cuda_check/director.h"
#include "cuda_check/host_memory.h"
#include "cuda_check/lifetimes.h"
#include "cuda_check/work.h"

namespace memverify::device {

/// A plan in one case, ready to run. Outlives the device that was made for it.
struct Job {
  const Plan& plan;
  const Layout& layout;
  const Calls& calls;
  const Work& work;
};

/// How one run goes.
struct Orders {
  Table<CommandId, Delay> delays;  ///< Empty: none.
  Director director;
  std::uint64_t seed = 0;                   ///< Of what else is left to chance.
  std::chrono::milliseconds timeout{5000};  ///< Without any progress.
};

/// Where a command looks at bytes.
enum class Look : std::uint8_t {
  kEntry,      ///< A reader as it enters.
  kLeave,      ///< A reader as it leaves.
  kOwnWrite,   ///< A writer as it leaves: its bytes should still be its own.
  kOwnUpdate,  ///< An accumulate as it leaves: nothing but its like may have changed its bytes.
  kEnd,        ///< When everything has completed.
  kLifetime,   ///< A storage that is not alive.
};

/// Something that is not as it should be.
struct Mismatch {
  Look look = Look::kEntry;
  CommandId command = kNone<CommandId>;  ///< Who looked; kNone at the end.
  std::uint32_t piece = 0;               ///< In Work::pieces; not of kLifetime.
  Clash clash;
  LifetimeClash lifetime;  ///< Of kLifetime.
  std::size_t at = 0;      ///< How many instants of RunReport::instants had happened.
};

struct Checksum {
  TensorId tensor = kNone<TensorId>;
  std::uint64_t value = 0;
  bool operator==(const Checksum&) const = default;
};

struct RunReport {
  bool finished = false;               ///< Every command has completed.
  std::vector<Mismatch> mismatches;    ///< In the order in which they were seen.
  std::vector<Instant> instants;       ///< In their order, as far as the device knows it.
  std::vector<std::string> waiting;    ///< Who waits for what, where it did not finish.
  CommandId stuck = kNone<CommandId>;  ///< One of those that wait, for ever.
  std::size_t steps_done = 0;          ///< Of the run of the director.
  std::vector<Checksum> checksums;     ///< Of what is checked at the end; if it finished.
};

class Device {
 public:
  virtual ~Device() = default;
  /// Runs the job once, from the initial values on. What fails on the device itself is an
  /// exception.
  virtual RunReport run(const Orders& orders) = 0;
};

}  // namespace memverify::device
