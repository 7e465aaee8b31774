// tests/support/placement_fault.h -- what is wrong with a placement, asked of every pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "planner/problem.h"

namespace memverify::testing {

/// True iff some byte of `a` and some byte of `b` that must differ have one address. Asks byte by
/// byte what the problem says of it.
inline bool share_a_byte(const Problem& problem, BufferIndex a, BufferIndex b, std::int64_t at_a,
                         std::int64_t at_b) {
  const std::int64_t begin = std::max(at_a, at_b);
  const std::int64_t end =
      std::min(at_a + problem.buffers[a].bytes, at_b + problem.buffers[b].bytes);
  if (begin >= end) return false;
  if (problem.live_ranges_decide) {
    const LiveRange x = problem.live_ranges[a];
    const LiveRange y = problem.live_ranges[b];
    return std::max(x.begin, y.begin) < std::min(x.end, y.end);
  }
  for (const Clash& clash : problem.clashes) {
    if (clash.first != a || clash.second != b) continue;
    for (std::int64_t byte = begin; byte < end; ++byte) {
      const bool in_first = byte - at_a >= clash.of_first.begin && byte - at_a < clash.of_first.end;
      const bool in_second =
          byte - at_b >= clash.of_second.begin && byte - at_b < clash.of_second.end;
      if (in_first && in_second) return true;
    }
  }
  return false;
}

/// Empty: nothing. Shares no code with the library; O(n² · (bytes + clashes)), for small problems.
inline std::string placement_fault(const Problem& problem, const Placement& placement) {
  const auto count = static_cast<BufferIndex>(problem.buffers.size());
  if (placement.offsets.size() != count) return "not one offset for each buffer";
  std::int64_t peak = 0;
  for (BufferIndex a = 0; a < count; ++a) {
    const Buffer& buffer = problem.buffers[a];
    const std::int64_t at = placement.offsets[a];
    const std::string who = "buffer " + std::to_string(a) + " at " + std::to_string(at);
    if (at < 0) return who + " is below 0";
    if (at / buffer.alignment * buffer.alignment != at) return who + " is not aligned";
    if (buffer.offset && *buffer.offset != at) return who + " was moved";
    for (BufferIndex b = a + 1; b < count; ++b) {
      if (share_a_byte(problem, a, b, at, placement.offsets[b])) {
        return who + " meets buffer " + std::to_string(b) + " at " +
               std::to_string(placement.offsets[b]);
      }
    }
    for (std::int64_t byte = at; byte < at + buffer.bytes; ++byte) peak = std::max(peak, byte + 1);
  }
  return peak == placement.peak ? "" : "the peak is " + std::to_string(peak);
}

}  // namespace memverify::testing
