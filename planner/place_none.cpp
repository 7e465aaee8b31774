#include "planner/stack.h"
#include "planner/strategies.h"

namespace memverify {

Placement place_none(const Problem& problem, const StrategyOptions&) {
  Stack stack(problem);
  Placement placement;
  for (const Buffer& buffer : problem.buffers) {
    const bool is_free = !buffer.offset && buffer.bytes > 0;
    placement.offsets.push_back(is_free ? stack.push(buffer.bytes, buffer.alignment)
                                        : buffer.offset.value_or(0));
  }
  placement.peak = peak_of(problem, placement.offsets);
  return placement;
}

}  // namespace memverify
