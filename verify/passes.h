// verify/passes.h -- the passes over the bytes of a program, beside each other.
//
// Problem: bytes and clocks know nothing of each other, nor does what reads find of what races.
// Idea: a large program's accesses are listed while its clocks are made, and what reads find is
//   looked for beside the sweep. Bytes that the same strided regions hold are looked at once, and
//   byte by byte where that shows a fault.
// Tested by tests/unit/verify/verify_test.cpp, tests/agreement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>

#include "verify/footprint.h"
#include "verify/order.h"
#include "verify/stale.h"
#include "verify/sweep.h"
#include "verify/walk.h"

namespace memverify {

class Passes {
 public:
  static constexpr std::size_t kMaxRuns = std::size_t{1} << 25;  ///< Of bytes, of all tensors.

  /// Begins to list the accesses. `gather_from`: as in HbOptions.
  Passes(const Program& program, std::uint64_t gather_from);
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

  /// Begins to look for what reads find in `walk`, which is returned. `keep_expected`: as in Reads.
  const Walk& start_reads(Walk walk, bool keep_expected);
  /// Looks for what races. False if the tensors have more than kMaxRuns runs.
  bool finish(const Order& order);

  // What was found, when `finish` is done.
  const Footprints& footprints() const { return *footprints_; }
  const SweepResult& swept() const { return *swept_; }
  Reads& reads() { return *reads_; }

 private:
  bool sees_fault() const;

  const Program& program_;
  const std::launch policy_;
  Walk walk_;
  bool keep_expected_ = false;
  std::optional<Footprints> footprints_;
  std::optional<Reads> reads_;
  std::optional<SweepResult> swept_;
  // Destroyed first, which waits for the threads.
  std::shared_future<void> listed_;
  std::future<void> read_;
};

}  // namespace memverify
