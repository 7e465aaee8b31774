#include <algorithm>

#include "cuda_check/cuda_device.h"

namespace memverify::device {

std::string graph_problem(const Calls& calls) {
  if (calls.threads > 1) return "the plan has several threads";
  const bool blocks = std::ranges::any_of(calls.calls, [](const Call& call) {
    return call.stream == kNoStream &&
           (call.kind == CallKind::kWaitEvent || call.kind == CallKind::kWaitFlags ||
            call.kind == CallKind::kStart);
  });
  return blocks ? "the submitting thread blocks within the plan" : "";
}

}  // namespace memverify::device
