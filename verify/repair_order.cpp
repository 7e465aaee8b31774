#include <algorithm>
#include <set>

#include "plan/words.h"
#include "verify/repair.h"

namespace memverify {
namespace {

constexpr std::uint32_t kMostPlaces = 50'000;  ///< Of all ops together, about.
constexpr std::uint32_t kLeastSteps = 8;

/// What an op uses, as far as the order of ops gives it a meaning.
struct OpTouches {
  std::set<TensorId> families;   ///< Roots.
  std::set<StorageId> storages;  ///< Allocated or freed.
  bool of_everything = false;    ///< Clobbers a pool, or its effects are not known.
};

OpTouches touches_of(const Plan& plan, OpId id) {
  const Op& op = plan.ops[id];
  OpTouches touches;
  touches.of_everything = op.kind == OpKind::kUnknown;
  if (op.kind == OpKind::kAlloc || op.kind == OpKind::kFree) touches.storages.insert(op.storage);
  for (const Access& access : plan.accesses_of(op)) {
    if (access.tensor == kNone<TensorId>) {
      touches.of_everything = true;
      continue;
    }
    touches.families.insert(plan.tensors[access.tensor].root);
  }
  return touches;
}

bool meet(const OpTouches& a, const OpTouches& b) {
  const bool empty_a = a.families.empty() && a.storages.empty() && !a.of_everything;
  const bool empty_b = b.families.empty() && b.storages.empty() && !b.of_everything;
  if (empty_a || empty_b) return false;
  if (a.of_everything || b.of_everything) return true;
  const auto share = [](const auto& x, const auto& y) {
    return std::ranges::any_of(x, [&](auto id) { return y.contains(id); });
  };
  // An alloc or free may pass accesses: whether they are in the right place is for the verdict.
  return share(a.families, b.families) || share(a.storages, b.storages);
}

}  // namespace

bool may_move_to(const Plan& plan, OpId op, std::uint32_t place) {
  const OpTouches mine = touches_of(plan, op);
  const std::uint32_t at = index(op);
  const std::uint32_t begin = std::min(at, place);
  const std::uint32_t end = place > at ? place : at;
  for (std::uint32_t k = begin; k < end; ++k) {
    const OpId other = static_cast<OpId>(k);
    if (other != op && meet(mine, touches_of(plan, other))) return false;
  }
  return true;
}

RepairSearch repair_by_reordering(const Plan& plan, const RepairOptions& options) {
  RepairSearch result;
  const auto size = static_cast<std::uint32_t>(plan.ops.size());
  const std::uint32_t furthest = std::max(kLeastSteps, kMostPlaces / std::max(size, 1U));
  bool is_cut = false;
  for (std::uint32_t step = 1; step < size && !is_cut; ++step) {
    is_cut = step > furthest;
    if (is_cut) break;
    for (const OpId op : ids(plan.ops)) {
      if (plan.ops[op].kind == OpKind::kView) continue;
      const std::uint32_t at = index(op);
      for (const bool later : {false, true}) {
        // Later: behind the next `step` ops; a neighbour that moves earlier is the same as that.
        if (later ? at + step >= size || step == 1 : at < step) continue;
        const std::uint32_t place = later ? at + step + 1 : at - step;
        if (!may_move_to(plan, op, place)) continue;
        is_cut = result.verifications >= options.max_verifications ||
                 result.found.size() >= options.max_offers;
        if (is_cut) break;
        Plan moved = with_op_at(plan, op, place);
        if (decide(moved, options, result.verifications).verdict != Verdict::kSafe) continue;
        Repair& repair = result.found.emplace_back();
        repair.kind = Repair::Kind::kOrder;
        repair.changes.push_back(
            "submit " + quoted(plan.ops[op].name) + (later ? " after " : " before ") +
            quoted(plan.ops[static_cast<OpId>(later ? at + step : place)].name));
        repair.plan = std::move(moved);
      }
    }
  }
  if (result.found.empty()) {
    result.why_not = is_cut ? "none of the " + std::to_string(result.verifications) +
                                  " nearest places of an op makes the plan safe"
                            : "no single op at another place in program order, across none that "
                              "uses the same tensors, makes the plan safe";
  }
  return result;
}

}  // namespace memverify
