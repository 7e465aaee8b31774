#include <algorithm>

#include "planner/problem.h"

namespace memverify {
namespace {

std::string name_of(const Problem& problem, BufferIndex b) {
  const std::string& name = problem.buffers[b].name;
  return name.empty() ? "buffer " + std::to_string(b) : name;
}

}  // namespace

std::string fault_of(const Problem& problem, const Placement& placement) {
  const std::size_t count = problem.buffers.size();
  if (placement.offsets.size() != count) {
    return std::to_string(placement.offsets.size()) + " offsets for " + std::to_string(count) +
           " buffers";
  }
  std::int64_t peak = 0;
  for (BufferIndex b = 0; b < count; ++b) {
    const Buffer& buffer = problem.buffers[b];
    const std::int64_t offset = placement.offsets[b];
    if (offset < 0 || offset % buffer.alignment != 0) {
      return name_of(problem, b) + " is at " + std::to_string(offset) + ", not a multiple of " +
             std::to_string(buffer.alignment);
    }
    if (buffer.offset.value_or(offset) != offset) {
      return name_of(problem, b) + " was moved from " + std::to_string(*buffer.offset);
    }
    if (buffer.bytes > 0) peak = std::max(peak, offset + buffer.bytes);
  }
  for (const Clash& clash : problem.clashes) {
    const std::int64_t first = placement.offsets[clash.first];
    const std::int64_t second = placement.offsets[clash.second];
    if (first + clash.of_first.begin < second + clash.of_second.end &&
        second + clash.of_second.begin < first + clash.of_first.end) {
      return name_of(problem, clash.first) + " and " + name_of(problem, clash.second) +
             " share bytes";
    }
  }
  if (placement.peak != peak) {
    return "the peak is " + std::to_string(peak) + ", not " + std::to_string(placement.peak);
  }
  return {};
}

}  // namespace memverify
