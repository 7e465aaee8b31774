// verify/storage_causes.h -- which use holds a storage longest, and why it is so late.
#pragma once

#include <cstdint>

#include "verify/storage_view.h"

namespace memverify {

/// Views between a tensor and its root.
std::uint32_t views_over_root(const Plan& plan, TensorId tensor);

/// Fills `blocker` and `causes` from the uses. Cost: linear in them.
void find_blocker(const Plan& plan, StorageView& view);

}  // namespace memverify
