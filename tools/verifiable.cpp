#include "tools/verifiable.h"

#include <algorithm>

#include "plan/layout.h"
#include "plan/words.h"

namespace memverify {
namespace {

bool is_zero(const Expr& expr) { return expr.is_constant() && expr.constant == 0; }

/// False only when the tensor certainly has no byte.
bool has_bytes(const Plan& plan, TensorId id) {
  const Tensor& tensor = plan.tensors[id];
  if (tensor.dtype == DType::kNone) return !is_zero(tensor.bytes);
  return std::ranges::none_of(Plan::slice(plan.exprs, tensor.shape), is_zero);
}

bool touches_a_byte(const Plan& plan, const Op& op) {
  if (op.kind == OpKind::kView) return false;
  if (op.kind == OpKind::kUnknown && op.accesses.empty()) return true;
  return std::ranges::any_of(plan.accesses_of(op), [&](const Access& access) {
    if (access.part != Access::kWhole) {
      const std::optional<Expr>& bytes = plan.parts[access.part].bytes;
      if (bytes && is_zero(*bytes)) return false;
    }
    return access.tensor == kNone<TensorId> || has_bytes(plan, access.tensor);
  });
}

bool needs_a_place(const Plan& plan, TensorId id) {
  return plan.tensors[plan.tensors[id].root].placement == TensorKind::kUnplaced;
}

}  // namespace

std::vector<Diagnostic> cannot_be_verified(const Plan& plan) {
  std::vector<Diagnostic> errors;
  std::vector<TensorId> unplaced;
  for (const TensorId id : ids<TensorId>(plan.tensors)) {
    if (plan.tensors[id].root == id && needs_a_place(plan, id)) unplaced.push_back(id);
  }
  if (!unplaced.empty()) {
    const auto count = static_cast<std::int64_t>(unplaced.size());
    errors.push_back({.id = "tensor.unplaced",
                      .message = "this is a graph: " +
                                 (count == 1 ? "tensor " + quoted(plan.tensors[unplaced[0]].name)
                                             : counted(count, "tensor")) +
                                 (count == 1 ? " has" : " have") +
                                 " no storage; place it with `memverify plan FILE -o plan.json`",
                      .pointer = "/tensors/" + std::to_string(index(unplaced[0]))});
    return errors;
  }
  // Sizes must make sense for the least values, whatever they are for others.
  Valuation least;
  for (const Symbol& symbol : plan.symbols) least.symbols.push_back(least_value(symbol));
  if (Result<Layout> layout = Layout::make(plan, least); !layout.ok()) return layout.errors();
  const bool touches =
      std::ranges::any_of(plan.ops, [&](const Op& op) { return touches_a_byte(plan, op); });
  if (!touches) {
    errors.push_back({.id = "plan.empty",
                      .message = "no op touches a byte, so there is nothing to verify; do the ops "
                                 "list what they read and write?",
                      .pointer = "/ops"});
  }
  return errors;
}

}  // namespace memverify
