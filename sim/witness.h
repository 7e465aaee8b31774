// sim/witness.h -- runs that lead where a search has been.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plan/finding.h"
#include "sim/search.h"

namespace memverify::sim {

/// A run to `state`: smallest commands first where there is a choice. With `versions`, one after
/// which the version words are `values`. Precondition: some run gets there. Time: linear in the
/// steps times the chains if nothing is consumed; else a search among the states below `state`, and
/// an empty answer when that takes more than 10^6 of them.
std::vector<StepId> run_to(const Model& model, const State& state, const VersionModel* versions,
                           std::span<const std::uint64_t> values);

/// A run to a state in which `step` is possible and the digit of `keep.chain` is at least
/// `keep.from`, inside `bound`, from which no step can be taken away; `step` itself is its last.
/// nullopt when there is none. Precondition: the model consumes nothing. Time: chains times
/// logarithms of their lengths times that of a run.
std::optional<std::vector<StepId>> minimal_run(const Model& model, const State& bound, StepId step,
                                               const Check& keep);

/// `run` without the steps that can go while `shows` still holds of where it leads: digits, and
/// version words if there are `versions`. Time: a run and a call of `shows` for each chain and
/// step.
std::vector<StepId> shortened(
    const Model& model, const VersionModel* versions, std::vector<StepId> run,
    const std::function<bool(const State&, std::span<const std::uint64_t>)>& shows);

/// The steps in the words of a Finding.
std::vector<Step> to_steps(const Program& program, const Model& model, std::span<const StepId> run);

}  // namespace memverify::sim
