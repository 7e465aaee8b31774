#include "planner/pool_problem.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace memverify {
namespace {

constexpr BufferIndex kElsewhere = PoolProblem::kElsewhere;

void add_movable(const ApartPlan& apart, const GraphClashes& clashes, const Groups& groups,
                 const std::vector<std::int64_t>& alignments, PoolProblem& made) {
  std::vector<Buffer>& buffers = made.problem.buffers;
  for (BufferIndex b = 0; b < apart.buffers.size(); ++b) {
    if (alignments[b] == 0) continue;
    BufferIndex& at = made.place_in[groups.group_of[b]];
    if (at == kElsewhere) {
      at = static_cast<BufferIndex>(buffers.size());
      buffers.push_back({.name = std::string(apart.plan.tensors[apart.buffers[b].root].name)});
      made.problem.live_ranges.push_back(clashes.live_ranges[b]);
    }
    Buffer& buffer = buffers[at];
    buffer.bytes = std::max(buffer.bytes, groups.offset_in[b] + apart.buffers[b].bytes);
    buffer.alignment = std::lcm(buffer.alignment, alignments[b]);
    LiveRange& range = made.problem.live_ranges[at];
    range.begin = std::min(range.begin, clashes.live_ranges[b].begin);
    range.end = std::max(range.end, clashes.live_ranges[b].end);
  }
}

void add_fixed(const ApartPlan& apart, const GraphClashes& clashes, PoolId pool,
               PoolProblem& made) {
  for (std::size_t k = 0; k < clashes.fixed.size(); ++k) {
    const BufferMap::Fixed& fixed = clashes.fixed[k];
    if (fixed.pool != pool) continue;
    made.place_in[apart.buffers.size() + k] = static_cast<BufferIndex>(made.problem.buffers.size());
    made.problem.buffers.push_back(
        {.bytes = fixed.bytes.end - fixed.bytes.begin, .offset = fixed.bytes.begin});
    made.problem.live_ranges.push_back({0, 1});
  }
}

void all_clash(Problem& problem) {
  const auto count = static_cast<BufferIndex>(problem.buffers.size());
  for (BufferIndex a = 0; a < count; ++a) {
    for (BufferIndex b = a + 1; b < count; ++b) {
      const ByteRange of_a{0, problem.buffers[a].bytes};
      const ByteRange of_b{0, problem.buffers[b].bytes};
      const bool can_move = !problem.buffers[a].offset || !problem.buffers[b].offset;
      if (can_move && !of_a.empty() && !of_b.empty()) {
        problem.clashes.push_back({a, b, of_a, of_b});
      }
    }
  }
}

void add_clashes(std::size_t movable, const GraphClashes& clashes, const Groups& groups,
                 PoolProblem& made) {
  std::vector<Clash>& out = made.problem.clashes;
  const auto add = [&](const Clash& clash) {
    const auto group = [&](BufferIndex b) { return b < movable ? groups.group_of[b] : b; };
    const auto shifted = [&](BufferIndex b, ByteRange range) {
      const std::int64_t by = b < movable ? groups.offset_in[b] : 0;
      return ByteRange{range.begin + by, range.end + by};
    };
    const BufferIndex first = made.place_in[group(clash.first)];
    const BufferIndex second = made.place_in[group(clash.second)];
    if (first == kElsewhere || second == kElsewhere || first == second) return;
    const ByteRange of_first = shifted(clash.first, clash.of_first);
    const ByteRange of_second = shifted(clash.second, clash.of_second);
    out.push_back(first < second ? Clash{first, second, of_first, of_second}
                                 : Clash{second, first, of_second, of_first});
  };
  for (const Clash& clash : clashes.clashes) add(clash);
  for (const Handoff& handoff : clashes.handoffs) add(handoff.clash);
  std::ranges::sort(out, {}, [](const Clash& c) { return std::pair(c.first, c.second); });
}

}  // namespace

PoolProblem pool_problem(const ApartPlan& apart, const GraphClashes& clashes, PoolId pool,
                         const Groups& groups, const std::vector<std::int64_t>& alignments) {
  PoolProblem made;
  made.place_in.assign(apart.buffers.size() + clashes.fixed.size(), kElsewhere);
  add_movable(apart, clashes, groups, alignments, made);
  add_fixed(apart, clashes, pool, made);
  if (clashes.gap.empty()) {
    add_clashes(apart.buffers.size(), clashes, groups, made);
  } else {
    all_clash(made.problem);
  }
  return made;
}

}  // namespace memverify
