// cuda_check/scale.h -- a plan too large for the device, made smaller.
#pragma once

#include <cstdint>

#include "cuda_check/work.h"

namespace memverify::device {

/// Moves the pieces to smaller addresses so that the pools take about `bytes` at most, if they do
/// not already. The bytes between two neighbouring ends of pieces are all touched by the same
/// pieces; of such a stretch no more is kept than its share, so that which pieces overlap does not
/// change, nor where in a 16-byte line they begin and end. Findings then show the smaller
/// addresses. Never below 16 to 32 bytes for a stretch. Cost: O(p log p) for p pieces.
void scale(Work& work, std::int64_t bytes);

}  // namespace memverify::device
