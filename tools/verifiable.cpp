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

Diagnostic is_graph(const Plan& plan) {
  std::vector<TensorId> unplaced;
  for (const TensorId id : ids(plan.tensors)) {
    if (plan.tensors[id].placement == TensorKind::kUnplaced) unplaced.push_back(id);
  }
  const auto count = static_cast<std::int64_t>(unplaced.size());
  return {.id = "tensor.unplaced",
          .message = "this is a graph: " +
                     (count == 1 ? "tensor " + quoted(plan.tensors[unplaced[0]].name)
                                 : counted(count, "tensor")) +
                     (count == 1 ? " has" : " have") +
                     " no storage; place it with `memverify plan FILE -o plan.json`",
          .pointer = "/tensors/" + std::to_string(index(unplaced[0]))};
}

}  // namespace

std::vector<Diagnostic> cannot_be_verified(const Plan& plan) {
  std::optional<Layout> least;
  return find_obstacles(plan, least);
}

std::vector<Diagnostic> find_obstacles(const Plan& plan, std::optional<Layout>& least) {
  std::vector<Diagnostic> errors;
  // Sizes must make sense for the least values, whatever they are for others.
  Valuation values;
  for (const Symbol& symbol : plan.symbols) values.symbols.push_back(least_value(symbol));
  Result<Layout> layout = Layout::make(plan, values);
  if (!layout.ok()) {
    if (layout.errors().front().id == "tensor.unplaced") return {is_graph(plan)};
    return layout.errors();
  }
  const bool touches =
      std::ranges::any_of(plan.ops, [&](const Op& op) { return touches_a_byte(plan, op); });
  if (!touches) {
    errors.push_back({.id = "plan.empty",
                      .message = "no op touches a byte, so there is nothing to verify; do the ops "
                                 "list what they read and write?",
                      .pointer = "/ops"});
    return errors;
  }
  least = std::move(layout).value();
  return errors;
}

}  // namespace memverify
