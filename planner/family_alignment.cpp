#include "planner/family_alignment.h"

#include <algorithm>
#include <numeric>

#include "planner/align.h"

namespace memverify {
namespace {

constexpr std::int64_t kMostShifts = 1 << 20;

/// Calls `visit` for each pool that the root may go to.
template <typename Visit>
void for_each_pool(const Plan& graph, TensorId root, Visit visit) {
  const auto own = Plan::slice(graph.pool_lists, graph.tensors[root].pools);
  for (const PoolId pool : ids(graph.pools)) {
    if (own.empty() || std::ranges::count(own, pool) != 0) visit(graph.pools[pool]);
  }
}

}  // namespace

CommonAlignment common_alignment(const Plan& graph, std::int64_t most) {
  CommonAlignment all;
  for (const TensorId id : ids(graph.tensors)) {
    const TensorId root = graph.tensors[id].root;
    if (graph.tensors[root].placement != TensorKind::kUnplaced) continue;
    const auto add = [&](std::int64_t alignment) {
      const auto more = common_multiple(all.bytes, std::max<std::int64_t>(alignment, 1));
      if (!more || *more > most) {
        all.too_large = id;
      } else {
        all.bytes = *more;
      }
    };
    add(graph.tensors[id].alignment);
    if (id == root) for_each_pool(graph, root, [&](const Pool& pool) { add(pool.alignment); });
    if (all.too_large != kNone<TensorId>) break;
  }
  return all;
}

std::vector<std::int64_t> family_alignments(const Plan& graph) {
  std::vector<std::int64_t> all(graph.tensors.size(), 1);
  for (const Tensor& tensor : graph.tensors) {
    std::int64_t& family = all[index(tensor.root)];
    const bool is_unplaced = graph.tensors[tensor.root].placement == TensorKind::kUnplaced;
    if (is_unplaced && tensor.alignment > 0) family = std::lcm(family, tensor.alignment);
  }
  return all;
}

std::optional<std::int64_t> aligned_element_0(const Plan& graph, TensorId root, std::int64_t least,
                                              std::span<const ViewAlignment> views) {
  std::optional<std::int64_t> step = std::max<std::int64_t>(graph.tensors[root].alignment, 1);
  if (graph.tensors[root].alignment == 0) {
    for_each_pool(graph, root, [&](const Pool& pool) {
      if (step) step = common_multiple(*step, pool.alignment);
    });
  }
  if (!step) return std::nullopt;
  std::int64_t at = aligned_up(least, *step);
  for (const ViewAlignment& view : views) {
    for (std::int64_t k = 0; (at + view.offset) % view.alignment != 0; ++k) {
      if (k > kMostShifts || __builtin_add_overflow(at, *step, &at)) return std::nullopt;
    }
    step = common_multiple(*step, view.alignment);
    if (!step) return std::nullopt;
  }
  return at;
}

}  // namespace memverify
