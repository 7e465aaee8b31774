// tools/fuzz_families.h -- the shapes that graphs are made of.
//
// A graph is a few pieces, one after the other, each of a family: a piece takes a tensor that has
// been written, and leaves one that has been. What is between two pieces can share bytes with what
// is in them. To add a family: a function, and a row of the table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "tools/fuzz_graph.h"

namespace memverify {

struct GraphFamily {
  std::string_view name;
  std::string_view help;  ///< One line.
  AliasWay alias;         ///< What it is there for.
  Made (*grow)(GraphMaker& graph, Made from);
};
std::span<const GraphFamily> graph_families();

struct RandomGraph {
  Plan plan;
  std::string families;  ///< Names with a `+` between them.
};

/// A graph for a planner, with what is wished for where that can be. Same seed and wish, same
/// graph. Safe with its tensors apart, as far as those who wrote this saw: ask a verifier.
RandomGraph random_graph(std::uint64_t seed, const Wish& wish);

}  // namespace memverify
