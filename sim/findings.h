// sim/findings.h -- what a search saw, in the words of plan/finding.h.
#pragma once

#include "sim/collector.h"
#include "sim/search.h"

namespace memverify::sim {

/// One case, as searched.
struct Searched {
  const Material& material;
  const Case& settled;
  const Model& model;
  const VersionModel* versions = nullptr;  ///< As given to the search.
  const Search& search;
};

/// Everything that the search of one case found, with witnesses. Wrong values are judged by the
/// search if it tracked them, else by wrong_values_of_any_run().
void report(const Searched& searched, Collector& collector);

}  // namespace memverify::sim
