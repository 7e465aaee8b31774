// sim/tiles.h -- pieces of a state space that can be searched apart, each state in one of them.
//
// Where every need is a threshold, states are the consistent cuts of a partial order: among those
// in which chain c has come to digit d, one is contained in all others, and all others are reached
// from it. So the states with given digits of some chains are found by searching from that one,
// whose run is a prefix of a run to each of them, without a step of these chains.
#pragma once

#include <optional>
#include <vector>

#include "sim/parts.h"
#include "sim/search.h"

namespace memverify::sim {

/// Those that `shard` is dealt of all tiles of the model, several for each part. Together the
/// tiles of all parts hold every reachable state once. nullopt if some need is no threshold.
/// Cost: tiles times a run of the model.
std::optional<std::vector<Tile>> tiles_of(const Model& model, const SimShard& shard);

}  // namespace memverify::sim
