// planner/handoff.h -- where an op may write its result over what it reads.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/live_values.h"

namespace memverify {

struct InPlaceChance {
  bool any = false;        ///< The op copes with any overlap: no clash.
  std::int64_t delta = 0;  ///< Else: address of the second buffer less that of the first.
};

/// The chance to put `second` over `first` though the op that starts `second` reads `first`: the op
/// says so of these two tensors, touches the two values through no others, and all else is done
/// with `first` before.
std::optional<InPlaceChance> in_place_chance(const Program& program, const Order& order,
                                             const LiveValues& live, const LiveValue& first,
                                             const LiveValue& second,
                                             const std::vector<TensorId>& root_of_buffer);

/// False only if no op may write `second` over `first` in place, at any offsets: more is true than
/// `in_place_chance` makes use of, so that a lower bound holds for every plan.
bool may_share_in_place(const Program& program, const LiveValues& live, const LiveValue& first,
                        const LiveValue& second, const std::vector<TensorId>& root_of_buffer);

}  // namespace memverify
