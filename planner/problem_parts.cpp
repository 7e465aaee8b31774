#include "planner/problem_parts.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>

namespace memverify {
namespace {

/// For each buffer the least of those that it hangs together with.
std::vector<BufferIndex> representatives(const Problem& problem) {
  std::vector<BufferIndex> parent(problem.buffers.size());
  std::iota(parent.begin(), parent.end(), BufferIndex{0});
  const auto find = [&](BufferIndex b) {
    while (parent[b] != b) b = parent[b] = parent[parent[b]];
    return b;
  };
  for (const Clash& clash : problem.clashes) {
    const BufferIndex a = find(clash.first);
    const BufferIndex b = find(clash.second);
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (BufferIndex b = 0; b < parent.size(); ++b) parent[b] = find(b);
  return parent;
}

std::int64_t bytes_of(const ProblemPart& part) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : part.problem.buffers) bytes += buffer.bytes;
  return bytes;
}

}  // namespace

std::vector<ProblemPart> parts_of(const Problem& problem) {
  assert(!problem.live_ranges_decide);
  const std::vector<BufferIndex> representative = representatives(problem);
  std::vector<ProblemPart> parts;
  std::vector<std::size_t> part_of(problem.buffers.size());
  std::vector<BufferIndex> number(problem.buffers.size());  // In its part.
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    if (representative[b] == b) {
      part_of[b] = parts.size();
      parts.emplace_back().problem.capacity = problem.capacity;
    }
    part_of[b] = part_of[representative[b]];
    ProblemPart& part = parts[part_of[b]];
    number[b] = static_cast<BufferIndex>(part.buffers.size());
    part.buffers.push_back(b);
    part.problem.buffers.push_back(problem.buffers[b]);
    if (!problem.live_ranges.empty()) part.problem.live_ranges.push_back(problem.live_ranges[b]);
  }
  for (const Clash& clash : problem.clashes) {
    parts[part_of[clash.first]].problem.clashes.push_back(
        {number[clash.first], number[clash.second], clash.of_first, clash.of_second});
  }
  std::ranges::stable_sort(parts, std::greater(), bytes_of);
  return parts;
}

}  // namespace memverify
