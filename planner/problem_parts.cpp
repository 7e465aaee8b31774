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

std::vector<ProblemPart> cut_problem(const Problem& problem,
                                     const std::vector<std::uint32_t>& part_of, std::size_t count) {
  std::vector<ProblemPart> parts(count);
  std::vector<BufferIndex> number(problem.buffers.size());  // In its part.
  for (ProblemPart& part : parts) part.problem.live_ranges_decide = problem.live_ranges_decide;
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    if (part_of[b] == kInNoPart) continue;
    ProblemPart& part = parts[part_of[b]];
    number[b] = static_cast<BufferIndex>(part.buffers.size());
    part.buffers.push_back(b);
    part.problem.buffers.push_back(problem.buffers[b]);
    if (!problem.live_ranges.empty()) part.problem.live_ranges.push_back(problem.live_ranges[b]);
  }
  for (const Clash& clash : problem.clashes) {
    const std::uint32_t part = part_of[clash.first];
    if (part == kInNoPart || part != part_of[clash.second]) continue;
    parts[part].problem.clashes.push_back(
        {number[clash.first], number[clash.second], clash.of_first, clash.of_second});
  }
  return parts;
}

std::vector<ProblemPart> parts_of(const Problem& problem) {
  assert(!problem.live_ranges_decide);
  const std::vector<BufferIndex> representative = representatives(problem);
  std::vector<std::uint32_t> part_of(problem.buffers.size());
  std::uint32_t count = 0;
  for (BufferIndex b = 0; b < problem.buffers.size(); ++b) {
    part_of[b] = representative[b] == b ? count++ : part_of[representative[b]];
  }
  std::vector<ProblemPart> parts = cut_problem(problem, part_of, count);
  std::ranges::stable_sort(parts, std::greater(), bytes_of);
  return parts;
}

}  // namespace memverify
