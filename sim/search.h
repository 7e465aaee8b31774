// sim/search.h -- what the searches over a Model take and give.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/independence.h"
#include "sim/model.h"
#include "sim/parts.h"
#include "sim/versions.h"

namespace memverify::sim {

using State = std::vector<Digit>;  ///< One digit per chain.

/// What all searches of one `simulate` may spend together. Cores at work only read it.
struct Budget {
  std::size_t threads = 1;   ///< Cores to use where it pays, >= 1. No search that comes to its end
                             ///< depends on it.
  std::uint64_t states = 0;  ///< Left.
  std::uint64_t bytes = 0;   ///< That a search may hold at a time.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::function<void(std::uint64_t states)> tick;  ///< Hears of progress; may be empty.

  bool is_late() const { return deadline && std::chrono::steady_clock::now() >= *deadline; }
};

/// A suspect that is one: `step` in `state` shows it.
struct Hit {
  std::uint32_t suspect = 0;
  State state;
  StepId step = 0;
  std::vector<StepId> run;  ///< To `state`; empty: any will do, and none was kept.
};

/// A state in which nothing can go on though `blocked`, the first of those that have not completed,
/// has not.
struct Deadlock {
  State state;
  CommandId blocked = kNone<CommandId>;
  std::vector<StepId> run;  ///< As of Hit.
};

/// A reader that found another value than it demands: before `step` in `state`, or at the end.
struct WrongHit {
  WrongValue wrong;
  State state;
  StepId step = 0;
  std::vector<std::uint64_t> versions;  ///< The version words of the state.
  std::vector<StepId> run;              ///< As of Hit.
};

/// What a search saw. Everything in it is true whether the search came to its end or not.
struct Search {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t common_states = 0;  ///< Of `states`: in the layers that every part visits.
  std::uint64_t common_transitions = 0;
  std::uint64_t runs = 0;           ///< Classes explored, or random runs.
  std::uint64_t failing_runs = 0;   ///< Random runs with a fault.
  std::string stopped;              ///< "" when every state was visited; else which limit ended it.
  std::vector<Hit> hits;            ///< One for each suspect that showed.
  std::vector<Deadlock> deadlocks;  ///< One for each blocked command.
  std::vector<WrongHit> wrong;      ///< One for each demand and command found; none opaque.
  bool reaches_end = false;         ///< Some run completes everything.

  /// Of two deadlocks with the same blocked command the one with fewer steps is kept, of two hits
  /// of a suspect, or with the same wrong value, the one that is_before() the other.
  void add(Deadlock deadlock);
  void add(Hit hit);
  void add(WrongHit what);
  /// Adds everything that `other` saw; the first limit that was met is kept.
  void take(Search other);
  /// Adds everything likewise, but keeps all sightings.
  void append(Search other);
};

/// The length of every run to `state`.
int steps_to(const State& state);

/// An order of states, the last chain first; of hits by state, then step.
bool is_before(const State& a, const State& b);
bool is_before(const Hit& a, const Hit& b);

/// True iff `explore_grid` can hold all combinations of digits in `bytes`.
bool fits_grid(const Model& model, std::uint64_t bytes);

/// Every reachable state, marked in a bit map over all combinations of digits. Precondition:
/// fits_grid. Time: combinations / 64 plus states times chains.
Search explore_grid(const Model& model, Budget& budget);

/// The states that steps lead to from `begin` while no digit exceeds `end`. Steps out of it are
/// taken into account, the states behind them are not visited.
struct Tile {
  State begin;
  State end;
};

struct LayerOptions {
  const VersionModel* versions = nullptr;      ///< What bytes hold is part of the state.
  const Independence* independence = nullptr;  ///< Leave out what only reorders independent steps.
  const Tile* tile = nullptr;                  ///< The states to visit; all. Without the two above.
  SimShard shard;                 ///< Go on from a share of the first layer that has so many
  std::uint64_t part_states = 1;  ///< states for each part.
};

/// Every reachable state, a layer (states after equally many steps) at a time; only two layers are
/// held. `hits`, `deadlocks` and `wrong` are those with the fewest steps; with `independence`
/// there may be fewer states, the findings are the same. `wrong` is filled only with `versions`,
/// racy cells included. Precondition: with `independence` at most Independence::kMostChains chains.
Search explore_layers(const Model& model, const LayerOptions& options, const Material& material,
                      Budget& budget);

/// The findings of all states, from a run and runs that hold one chain back. The state of a hit is
/// a bound: some state at or below it shows it. Precondition: the model consumes nothing. `states`
/// and `transitions` are what was executed. Time: chains times (steps plus needs).
Search explore_classes(const Model& model, Budget& budget);

struct RandomOptions {
  std::uint64_t runs = 0;
  std::uint64_t seed = 0;
  std::uint64_t depth = 3;  ///< Of the bugs that the bound is about, >= 1.
};

/// Random runs. Never complete: `stopped` says so. `states` counts one for each step and end. Same
/// seed, same runs. `versions` may be null.
Search explore_random(const Model& model, const VersionModel* versions, const Material& material,
                      const RandomOptions& options, Budget& budget);

/// The least probability with which one run shows a given bug of that depth.
double random_bound(const Model& model, const RandomOptions& options);

/// The first command in program order that has not completed in `state`; kNone if all have.
CommandId first_incomplete(const Model& model, const State& state);

}  // namespace memverify::sim
