// planner/size_bound.h -- how large a tensor can get when its symbols have too many values to try.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.h"

namespace memverify {

/// Not less than the bytes of the tensor for any values of the symbols: arithmetic on intervals,
/// exact where each symbol occurs once, or everything grows with it. nullopt: the tensor has
/// strides, its size has no bound, or it does not fit in 64 bits.
std::optional<std::int64_t> greatest_bytes(const Plan& plan, const Tensor& tensor);

}  // namespace memverify
