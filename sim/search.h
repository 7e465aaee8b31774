// sim/search.h -- what the searches over a Model take and give.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/model.h"
#include "sim/versions.h"

namespace memverify::sim {

using State = std::vector<Digit>;  ///< One digit per chain.

/// What all searches of one `simulate` may spend together. Not shared between threads.
struct Budget {
  std::uint64_t states = 0;  ///< Left.
  std::uint64_t bytes = 0;   ///< That a search may hold at a time.
  std::optional<std::chrono::steady_clock::time_point> deadline;

  bool is_late() const { return deadline && std::chrono::steady_clock::now() >= *deadline; }
};

/// A suspect that is one: `step` in `state` shows it.
struct Hit {
  std::uint32_t suspect = 0;
  State state;
  StepId step = 0;
};

/// A state in which nothing can go on though `blocked`, the first of those that have not completed,
/// has not.
struct Deadlock {
  State state;
  CommandId blocked = kNone<CommandId>;
};

/// A reader that found another value than it demands: before `step` in `state`, or at the end.
struct WrongHit {
  WrongValue wrong;
  State state;
  StepId step = 0;
  std::vector<std::uint64_t> versions;  ///< The version words of the state.
};

/// What a search saw. Everything in it is true whether the search came to its end or not.
struct Search {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::string stopped;              ///< "" when every state was visited; else which limit ended it.
  std::vector<Hit> hits;            ///< One for each suspect that showed.
  std::vector<Deadlock> deadlocks;  ///< One for each blocked command.
  std::vector<WrongHit> wrong;      ///< One for each demand and command found; none opaque.
  bool reaches_end = false;         ///< Some run completes everything.
};

/// True iff `explore_grid` can hold all combinations of digits in `bytes`.
bool fits_grid(const Model& model, std::uint64_t bytes);

/// Every reachable state, marked in a bit map over all combinations of digits. Precondition:
/// fits_grid. Time: combinations / 64 plus states times chains.
Search explore_grid(const Model& model, Budget& budget);

/// Every reachable state, a layer (states after equally many steps) at a time; only two layers are
/// held. `hits`, `deadlocks` and `wrong` are those with the fewest steps. With `versions` (may be
/// null) what the bytes hold is part of the state, and `wrong` is filled, racy cells included.
Search explore_layers(const Model& model, const VersionModel* versions, const ByteMap& map,
                      Budget& budget);

/// The first command in program order that has not completed in `state`; kNone if all have.
CommandId first_incomplete(const Model& model, const State& state);

}  // namespace memverify::sim
