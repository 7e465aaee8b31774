// sim/count.h -- how many interleavings a case has, and how many of them fail.
//
// An interleaving is a maximal run; it goes on past a fault and fails if it holds at least one.
// There are far more of them than states (90! / (15!)^6 of six queues of fifteen instants), so they
// are never listed: the number of runs to a state is the sum over the states it is reached from,
// summed layer by layer. Runs without a fault are counted over positions and values of bytes, for a
// value is wrong or not depending on the order that came before; all runs over positions alone.
#pragma once

#include <string>

#include "sim/search.h"

namespace memverify::sim {

struct RunCount {
  bool complete = false;      ///< False: a limit was met, and nothing else is filled in.
  std::string interleavings;  ///< Decimal.
  std::string failing;
};

/// `versions` as made for `model`. What an unknown command may do is no fault. Time and memory:
/// those of two explore_layers, times the length of the numbers.
RunCount count_runs(const Material& material, const Model& model, const VersionModel& versions,
                    const Budget& budget);

/// The sum of two decimal strings.
std::string add_decimals(std::string a, std::string b);

}  // namespace memverify::sim
