// planner/graph_clashes.h -- which bytes of a graph's buffers must have different addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "planner/apart.h"
#include "planner/live_values.h"
#include "planner/problem.h"

namespace memverify {

/// Bytes of two buffers that clash only in that an op reads the first and writes the second, which
/// it may do in place: with `first` at address x and `second` at x + `delta` they may share.
struct Handoff {
  Clash clash;
  std::int64_t delta = 0;
};

struct GraphClashes {
  std::vector<Clash> clashes;     ///< Sorted, without repetition; not between two fixed places.
  std::vector<Handoff> handoffs;  ///< Clashes too, unless the two share in place. Sorted.
  std::vector<BufferMap::Fixed> fixed;  ///< Numbered from the number of buffers on.
  std::vector<LiveRange> live_ranges;   ///< By buffer: first to last access in a walk.
  /// By buffer: clashes with everything, which is not listed: it holds its value from before the
  /// start until after the end (a constant, an input that is not donated), or, of very many values,
  /// is ordered before or after none. None where there are fixed places.
  std::vector<std::uint8_t> permanent;
  /// By buffer, unless permanent: most bytes that have a value in one case. Others clash with
  /// nothing.
  std::vector<std::int64_t> used;
  bool whole = false;  ///< Of whole tensors, as their symbols have many values: some are needless.
  std::string gap;  ///< Not empty: why not every case was looked at; the clashes then say nothing.
};

/// What is known of one case of a graph: values of its symbols and conditions.
struct GraphCase {
  const Program& program;
  const Walk& run;
  const Order& order;
  const LiveValues& live;
  std::span<const BufferMap::Fixed> fixed;  ///< Those met so far.
};
using CaseVisit = std::function<void(const GraphCase&)>;

/// Over all symbol values, conditions and iterations. The plan must be safe. `visit`, if given,
/// sees each case that is looked at, so that nobody needs to walk it again.
GraphClashes find_graph_clashes(const ApartPlan& apart, const CaseVisit& visit = {});

/// `GraphClashes::permanent` alone, by the boundary.
std::vector<std::uint8_t> permanent_buffers(const ApartPlan& apart);

/// The buffers of `apart` as a map from addresses.
BufferMap map_buffers(const ApartPlan& apart);

}  // namespace memverify
