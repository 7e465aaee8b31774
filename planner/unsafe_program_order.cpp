#include <algorithm>

#include "planner/graph_clashes.h"
#include "planner/neighbors.h"
#include "planner/strategies.h"

namespace memverify {
namespace {

/// From the first to the last op that uses the tensor or a view of it, by place in the program.
class OpNumbers {
 public:
  explicit OpNumbers(const Plan& plan)
      : plan_(plan), ranges_(plan.tensors.size()), after_last_(end_of(plan)) {
    for (const OpId id : ids(plan.ops)) {
      for (const Access& access : plan.accesses_of(plan.ops[id])) note(access, index(id));
    }
    for (const auto* boundary : {&plan.inputs, &plan.constants}) {
      for (const TensorId tensor : *boundary) widen(tensor, {0, 1});
      for (const TensorId tensor : *boundary) {
        const bool is_donated = std::ranges::count(plan.donated, tensor) != 0;
        if (!is_donated) widen(tensor, {after_last_ - 1, after_last_});
      }
    }
    for (const Output& output : plan.outputs) widen(output.tensor, {after_last_ - 1, after_last_});
  }

  const LiveRange& of(TensorId root) const { return ranges_[index(root)]; }

 private:
  /// Ops are numbered from 1, the end is an op of its own.
  static std::int64_t end_of(const Plan& plan) {
    return static_cast<std::int64_t>(plan.ops.size()) + 2;
  }

  void note(const Access& access, std::size_t op) {
    if (access.tensor == kNone<TensorId>) return;
    const auto number = static_cast<std::int64_t>(op) + 1;
    widen(access.tensor, {number, number + 1});
    if (access.distance > 0) widen(access.tensor, {0, after_last_});
  }

  void widen(TensorId tensor, LiveRange by) {
    LiveRange& range = ranges_[index(plan_.tensors[tensor].root)];
    const bool is_new = range == LiveRange{};
    range.begin = is_new ? by.begin : std::min(range.begin, by.begin);
    range.end = std::max(range.end, by.end);
  }

  const Plan& plan_;
  std::vector<LiveRange> ranges_;  ///< By root.
  std::int64_t after_last_;
};

}  // namespace

/// Two tensors share unless their intervals of op numbers meet: what planners for one queue do. It
/// is wrong as soon as a later op on another queue may start before an earlier one has completed.
GraphClashes clashes_by_program_order(const ApartPlan& apart, const GraphClashes& right) {
  const OpNumbers numbers(apart.plan);
  Problem intervals;
  intervals.live_ranges_decide = true;
  for (const GraphBuffer& buffer : apart.buffers) {
    intervals.buffers.push_back({.bytes = buffer.bytes});
    intervals.live_ranges.push_back(numbers.of(buffer.root));
  }
  GraphClashes wrong = right;
  wrong.handoffs.clear();
  wrong.permanent = permanent_buffers(apart);
  wrong.live_ranges = intervals.live_ranges;
  wrong.clashes = with_clashes(intervals).clashes;
  for (const Clash& clash : right.clashes) {
    if (clash.second >= apart.buffers.size()) wrong.clashes.push_back(clash);  // A fixed place.
  }
  std::ranges::stable_sort(wrong.clashes, {},
                           [](const Clash& c) { return std::pair(c.first, c.second); });
  return wrong;
}

}  // namespace memverify
