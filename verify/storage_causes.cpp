#include "verify/storage_causes.h"

#include <algorithm>
#include <optional>

namespace memverify {

std::uint32_t views_over_root(const Plan& plan, TensorId tensor) {
  std::uint32_t depth = 0;
  for (; plan.tensors[tensor].base != kNone<TensorId>; tensor = plan.tensors[tensor].base) ++depth;
  return depth;
}

void find_blocker(const Plan& plan, StorageView& view) {
  for (const bool reads : {true, false}) {
    for (std::uint32_t k = 0; k < view.uses.size(); ++k) {
      if (view.uses[k].reads() != reads || !view.uses[k].completes) continue;
      if (!view.blocker || view.uses[k].complete >= view.uses[*view.blocker].complete) {
        view.blocker = k;
      }
    }
    if (view.blocker) break;
  }
  if (!view.blocker) return;
  const UseView& last = view.uses[*view.blocker];
  if (const std::uint32_t views = views_over_root(plan, last.tensor); views > 0) {
    view.causes.push_back({HoldCause::Kind::kViewChain, views});
  }
  std::optional<std::int64_t> elsewhere;  // Last completion on other queues, and of any other op.
  std::optional<std::int64_t> others;
  for (const UseView& use : view.uses) {
    if (use.op == last.op && use.iteration == last.iteration) continue;
    others = std::max(others.value_or(use.complete), use.complete);
    if (!use.reads() || plan.ops[use.op].queue == plan.ops[last.op].queue) continue;
    elsewhere = std::max(elsewhere.value_or(use.complete), use.complete);
  }
  if (elsewhere && *elsewhere < last.complete && *elsewhere == *others) {
    view.causes.push_back({HoldCause::Kind::kOtherQueue, last.complete - *elsewhere});
  }
  const bool is_alone = others && *others < last.complete;
  if (is_alone && 2 * last.touched <= view.bytes.end - view.bytes.begin) {
    view.causes.push_back({HoldCause::Kind::kSmallPiece, last.touched});
  }
}

std::string_view name(HoldCause::Kind kind) {
  switch (kind) {
    case HoldCause::Kind::kViewChain:
      return "view chain";
    case HoldCause::Kind::kOtherQueue:
      return "other queue";
    case HoldCause::Kind::kSmallPiece:
      return "small piece";
  }
  return "";
}

}  // namespace memverify
