// sim/independence.h -- which steps commute, and which of them a search may leave for later.
//
// Two steps of different chains are dependent when the order between them can show: one of them
// enters or leaves the range that a check of the other looks at (start and completion of
// conflicting commands: byte-exact), or one takes from a semaphore that the other needs. All other
// steps that are possible together commute: needs are lower bounds, so that no step but a consuming
// start ever disables another. Everything that a finding is made of (who overlaps whom, who was
// dead, last writers, deadlocks) is the same in all runs that differ in the order of independent
// steps only.
//
// *Persistent set*: chains such that nothing that happens outside of them depends on their next
// steps; taking only those steps misses no such class of runs. *Sleep set*: steps that a sibling of
// the state has taken already, and that need not be taken before something dependent has happened.
// Godefroid, Partial-Order Methods for the Verification of Concurrent Systems (1996), chapters
// 4, 5.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/model.h"

namespace memverify::sim {

/// A set of chains; only the first 64 can be in one.
using ChainSet = std::uint64_t;

struct Independence {
  static constexpr std::size_t kMostChains = 64;

  std::vector<std::uint32_t> begin;  ///< By step, in `others`.
  std::vector<StepId> others;        ///< Steps dependent on it, by chain, ascending.
};

/// Precondition: at most kMostChains chains.
Independence make_independence(const Model& model);

/// Chains whose next step depends on `step` in `state`.
ChainSet dependent_next(const Model& model, const Independence& independence,
                        std::span<const Digit> state, StepId step);

/// A persistent set: the chains of some enabled steps, at least one if any are enabled.
/// `enabled` are the chains whose next step is possible in `state`.
ChainSet persistent_set(const Model& model, const Independence& independence,
                        std::span<const Digit> state, ChainSet enabled);

}  // namespace memverify::sim
