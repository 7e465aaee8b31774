// sim/joining.h -- which part searches what, and its share of a search as numbers and back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/parts.h"
#include "sim/search.h"

namespace memverify::sim {

/// True iff whole cases are dealt out, because there are so many.
bool deals_cases(const SimShard& shard, std::uint64_t cases);
/// True iff the part looks at case `number`, at all of it or at a share.
bool looks_at(const SimShard& shard, std::uint64_t number, std::uint64_t cases);

/// Of each fault, the sighting with the fewest steps.
void keep_nearest(Search& search);

SimPartCase part_case(std::uint64_t number, const Search& search, const Reads& reads);

/// What is wrong with the set of parts, whatever the plan is: the first three errors of
/// join_parts().
std::optional<Diagnostic> fault_of(const std::vector<SimPart>& parts);

/// One search of case `number` from the shares of all parts. Errors: "parts.gap", "parts.damaged".
Result<Search> joined(const std::vector<SimPart>& parts, std::uint64_t number, std::uint64_t cases,
                      const Model& model, const VersionModel* versions, const Reads& reads);

}  // namespace memverify::sim
