#include <algorithm>
#include <map>

#include "planner/problem.h"

namespace memverify {
namespace {

std::string name_of(const Problem& problem, BufferIndex b) {
  const std::string& name = problem.buffers[b].name;
  return name.empty() ? "buffer " + std::to_string(b) : name;
}

/// One pass over time with the live buffers by offset: as long as they are disjoint, a new one can
/// only meet the two beside it.
std::string shared_bytes(const Problem& problem, const Placement& placement) {
  struct Event {
    std::int64_t step;
    bool begins;  ///< Ends come first: live ranges are half-open.
    BufferIndex buffer;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    const LiveRange& range = problem.live_ranges[b];
    if (range.begin >= range.end || problem.buffers[b].bytes == 0) continue;
    events.push_back({range.begin, true, b});
    events.push_back({range.end, false, b});
  }
  std::ranges::sort(events);
  std::map<std::int64_t, BufferIndex> live;
  for (const Event& event : events) {
    const BufferIndex b = event.buffer;
    const std::int64_t offset = placement.offsets[b];
    if (!event.begins) {
      live.erase(offset);
      continue;
    }
    const auto above = live.lower_bound(offset);
    if (above != live.end() && above->first < offset + problem.buffers[b].bytes) {
      return name_of(problem, b) + " and " + name_of(problem, above->second) + " share bytes";
    }
    if (above != live.begin()) {
      const BufferIndex below = std::prev(above)->second;
      if (placement.offsets[below] + problem.buffers[below].bytes > offset) {
        return name_of(problem, below) + " and " + name_of(problem, b) + " share bytes";
      }
    }
    live.emplace(offset, b);
  }
  return {};
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
  if (problem.live_ranges_decide) {
    const std::string shared = shared_bytes(problem, placement);
    if (!shared.empty()) return shared;
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

std::string fault_of_fixed(const Problem& problem) {
  Problem fixed;
  Placement placement;
  fixed.live_ranges_decide = problem.live_ranges_decide;
  std::vector<std::optional<BufferIndex>> index(problem.buffers.size());
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (!buffer.offset) continue;
    index[b] = static_cast<BufferIndex>(fixed.buffers.size());
    fixed.buffers.push_back(buffer);
    if (problem.live_ranges_decide) fixed.live_ranges.push_back(problem.live_ranges[b]);
    placement.offsets.push_back(*buffer.offset);
    if (buffer.bytes > 0) placement.peak = std::max(placement.peak, *buffer.offset + buffer.bytes);
  }
  for (const Clash& clash : problem.clashes) {
    if (!index[clash.first] || !index[clash.second]) continue;
    fixed.clashes.push_back(
        {*index[clash.first], *index[clash.second], clash.of_first, clash.of_second});
  }
  return fault_of(fixed, placement);
}

}  // namespace memverify
