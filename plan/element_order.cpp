#include "plan/element_order.h"

#include <algorithm>
#include <span>

namespace memverify {

ElementOrder element_order(const Plan& plan, const Layout& layout, TensorId id) {
  const Tensor& tensor = plan.tensors[id];
  ElementOrder order;
  if (tensor.dtype == DType::kNone) return order;
  order.element_bits = bits(tensor.dtype);
  const std::span<const Expr> shape = Plan::slice(plan.exprs, tensor.shape);
  const std::span<const Expr> strides = Plan::slice(plan.exprs, tensor.strides);
  std::int64_t packed = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t count = layout.value(shape[i]);
    if (count == 0) return {order.element_bits, {}};
    if (count == 1) continue;
    const std::int64_t stride = tensor.has_strides ? layout.value(strides[i]) : packed;
    packed *= count;
    std::int64_t next = 0;  // Where the inner dim would go on.
    if (!order.dims.empty() &&
        !__builtin_mul_overflow(order.dims.back().stride, order.dims.back().count, &next) &&
        next == stride) {
      order.dims.back().count *= count;
    } else {
      order.dims.push_back({count, stride});
    }
  }
  std::ranges::reverse(order.dims);
  return order;
}

bool same_elements(const Plan& plan, const Layout& layout, TensorId a, std::int64_t at_a,
                   TensorId b, std::int64_t at_b) {
  if (at_a != at_b) return false;
  if (a == b) return true;
  const ElementOrder x = element_order(plan, layout, a);
  const ElementOrder y = element_order(plan, layout, b);
  if (x.element_bits != y.element_bits && x.element_bits != 0 && y.element_bits != 0) return false;
  if (!x.is_dense() || !y.is_dense()) return x.element_bits == y.element_bits && x.dims == y.dims;
  const auto bytes = [&](TensorId tensor) {
    const ByteRange hull = layout.tensor(tensor).hull;
    return hull.end - hull.begin;
  };
  return bytes(a) == bytes(b);
}

bool has_self_overlap(const Plan& plan, const Layout& layout, TensorId id) {
  const Tensor& tensor = plan.tensors[id];
  if (!tensor.has_strides || tensor.dtype == DType::kNone) return false;
  const std::int64_t element_bytes = bits(tensor.dtype) / 8;
  if (element_bytes == 0) return false;  // Four bits: contiguous, or refused by the layout.
  const std::span<const Expr> shape = Plan::slice(plan.exprs, tensor.shape);
  const std::span<const Expr> strides = Plan::slice(plan.exprs, tensor.strides);
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t count = layout.value(shape[i]);
    if (count == 0) return false;
    if (count == 1) continue;
    dims.push_back({count, layout.value(strides[i]) * element_bytes});
  }
  return self_overlaps(element_bytes, dims);
}

}  // namespace memverify
