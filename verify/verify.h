// verify/verify.h -- deciding a plan by happens-before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/finding.h"
#include "plan/layout.h"
#include "plan/plan.h"

namespace memverify {

/// How much to look at.
struct HbOptions {
  std::size_t max_findings = 100;            ///< Errors and not-proven findings kept; >= 1.
  std::uint64_t max_instances = 50'000'000;  ///< Command instances, over all iterations, condition
                                             ///< and symbol values; more is MV201.
  std::uint64_t gather_from = 1U << 20;      ///< Runs of bytes, over all accesses, from which on
                                             ///< strided ones are swept as a whole first
                                             ///< (verify/gather.h).
  bool fold_loops = true;  ///< Run many iterations by fewer that show the same (verify/loop.h).
};

/// Decides `plan` by clocks alone (docs/semantics.md); all tensors must be placed. What it cannot
/// decide exactly is *unknown* with MV201 naming the feature or limit: semaphores that several
/// queues take from, symbols of many values or without a bound, many conditions, loops that do not
/// repeat.
/// `least`: the plan's layout for the least values of its symbols, if it was made already.
EngineResult verify_happens_before(const Plan& plan, const HbOptions& options,
                                   const Layout* least = nullptr);

}  // namespace memverify
