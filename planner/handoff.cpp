#include "planner/handoff.h"

#include <algorithm>

#include "plan/element_order.h"

namespace memverify {
namespace {

/// The tensor through which alone the op touches the family of `root`, if only by `kind`.
TensorId only_tensor(const Plan& plan, const Op& op, TensorId root, AccessKind kind) {
  TensorId found = kNone<TensorId>;
  for (const Access& access : plan.accesses_of(op)) {
    if (access.tensor == kNone<TensorId> || plan.tensors[access.tensor].root != root) continue;
    if (access.kind != kind || (found != kNone<TensorId> && found != access.tensor)) {
      return kNone<TensorId>;
    }
    found = access.tensor;
  }
  return found;
}

}  // namespace

bool may_share_in_place(const Program& program, const LiveValues& live, const LiveValue& first,
                        const LiveValue& second, const std::vector<TensorId>& root_of_buffer) {
  if (first.buffer >= root_of_buffer.size() || second.buffer >= root_of_buffer.size()) return false;
  const Plan& plan = *program.plan;
  return std::ranges::any_of(live.firsts(second), [&](Cmd cmd) {
    return std::ranges::any_of(plan.in_place_of(program.op(cmd)), [&](const InPlace& pair) {
      return plan.tensors[pair.read].root == root_of_buffer[first.buffer] &&
             plan.tensors[pair.written].root == root_of_buffer[second.buffer];
    });
  });
}

std::optional<InPlaceChance> in_place_chance(const Program& program, const Order& order,
                                             const LiveValues& live, const LiveValue& first,
                                             const LiveValue& second,
                                             const std::vector<TensorId>& root_of_buffer) {
  if (first.to_end || live.firsts(second).size() != 1) return std::nullopt;
  if (first.buffer >= root_of_buffer.size() || second.buffer >= root_of_buffer.size()) {
    return std::nullopt;
  }
  const Cmd cmd = live.firsts(second).front();
  const Plan& plan = *program.plan;
  const Op& op = program.op(cmd);
  if (plan.in_place_of(op).empty()) return std::nullopt;
  const bool done = std::ranges::all_of(
      live.lasts(first), [&](Cmd last) { return last == cmd || order.before(last, cmd); });
  if (!done) return std::nullopt;
  const TensorId read = only_tensor(plan, op, root_of_buffer[first.buffer], AccessKind::kRead);
  const TensorId written = only_tensor(plan, op, root_of_buffer[second.buffer], AccessKind::kWrite);
  for (const InPlace& pair : plan.in_place_of(op)) {
    if (pair.read != read || pair.written != written || read == kNone<TensorId>) continue;
    if (pair.any) return InPlaceChance{.any = true};
    if (!same_elements(plan, *program.layout, read, 0, written, 0)) continue;
    return InPlaceChance{.delta = program.layout->tensor(read).offset -
                                  program.layout->tensor(written).offset};
  }
  return std::nullopt;
}

}  // namespace memverify
