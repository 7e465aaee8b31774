// sim/reads.h -- which value each reader demands of each cell, and who does not get it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/bytes.h"
#include "sim/state.h"

namespace memverify::sim {

/// One reader, one cell, one tensor it reads it through.
struct Demand {
  CommandId reader = kNone<CommandId>;  ///< kNone: a read after everything has completed.
  TensorId tensor = kNone<TensorId>;
  CellId cell = 0;
  std::int64_t instance = 0;
  bool own_family_may_write = false;  ///< As in EndRead.
  /// An unknown command reads, or may write the cell: that something else is found there is not
  /// proven.
  bool is_open = false;
  Expected expected;
};

struct Reads {
  std::vector<Demand> during;  ///< By reader, ascending.
  std::vector<Demand> at_end;
};

/// Unknown commands count as readers of what they list ([S-36]).
Reads collect_reads(const Setting& setting, const ByteMap& map);

/// The demands of one command.
std::span<const Demand> demands_of(const Reads& reads, CommandId reader);

/// True iff the reader of `demand` is content with `found`.
bool meets(const Setting& setting, const ByteMap& map, const Value& found, const Demand& demand);

/// A demand that was not met though its bytes had a definite value: it found `found` (kNone: the
/// initial value, or nothing).
struct WrongValue {
  const Demand* demand = nullptr;
  CommandId found = kNone<CommandId>;
  bool operator==(const WrongValue&) const = default;
};

/// By cell: 1 iff one of the pairs conflicts on it. No unknown commands among the pairs.
std::vector<std::uint8_t> racy_cells(const ByteMap& map,
                                     const std::vector<std::pair<CommandId, CommandId>>& races);

/// All wrong values on cells that are not `racy`, of a program that consumes no semaphore. Demands
/// that expect nothing, or what an unknown command wrote, are left out: they fail in every run.
///
/// One run is enough. Needs are monotone, so that the union of two reachable sets of instants is
/// reachable. Suppose x may be open or still to come when y starts, and y when x starts: the union
/// of the two shortest runs that show it leaves both open, a race. So conflicting commands that
/// never race are in the same order in all runs, and a reader finds the same value in each.
/// Cost: linear in the needs per step and in the touched cells.
std::vector<WrongValue> wrong_values_of_any_run(const Setting& setting, const ByteMap& map,
                                                const Reads& reads,
                                                const std::vector<std::uint8_t>& racy);

}  // namespace memverify::sim
