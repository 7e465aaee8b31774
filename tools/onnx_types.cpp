// Shapes of what the onnx library does not know, by operator.
//
// Tested by tests/unit/tools/import_onnx_test.cpp.
#include <algorithm>

#include "tools/onnx_type_rules.h"

namespace memverify {
namespace {

constexpr std::int32_t kOnnxBool = 9;
constexpr std::int32_t kOnnxUint8 = 2;

/// Result k is like operand k.
Types same_as_each(const TypeContext& at) {
  Types out;
  for (std::size_t k = 0; k < at.node.outputs.size(); ++k) out.push_back(at.type(k));
  return out;
}

OnnxExtent broadcast(const OnnxExtent& a, const OnnxExtent& b) {
  if (a.is(1)) return b;
  if (b.is(1) || a == b) return a;
  if (a.number()) return *a.number() > 1 ? a : OnnxExtent();
  if (b.number()) return *b.number() > 1 ? b : OnnxExtent();
  return larger(a, b);
}

std::optional<OnnxExtents> broadcast(const OnnxExtents* a, const OnnxExtents* b) {
  if (a == nullptr || b == nullptr) return std::nullopt;
  const std::size_t rank = std::max(a->size(), b->size());
  OnnxExtents out(rank);
  for (std::size_t k = 1; k <= rank; ++k) {
    const OnnxExtent one = 1;
    out[rank - k] = broadcast(k <= a->size() ? (*a)[a->size() - k] : one,
                              k <= b->size() ? (*b)[b->size() - k] : one);
  }
  return out;
}

Types broadcast_all(const TypeContext& at) {
  std::optional<OnnxExtents> out;
  if (at.shape(0) != nullptr) out = *at.shape(0);
  for (std::size_t k = 1; k < at.node.inputs.size() && out; ++k)
    out = broadcast(&*out, at.shape(k));
  Types types = {at.with(out)};
  for (std::size_t k = 1; k < at.node.inputs.size() && types[0].element == 0; ++k) {
    types[0].element = at.type(k).element;
  }
  return types;
}

Types compare(const TypeContext& at) {
  Types out = broadcast_all(at);
  out[0].element = kOnnxBool;
  return out;
}

Types where(const TypeContext& at) {
  Types out = broadcast_all(at);
  out[0].element = at.type(1).element;
  return out;
}

Types cast(const TypeContext& at) {
  OnnxType out = at.type(0);
  out.element = static_cast<std::int32_t>(at.node.number("to", at.type(1).element) & 0xFFFF);
  return {out};
}

Types quantize(const TypeContext& at) {
  OnnxType out = at.type(0);
  const std::int32_t zero_point = at.type(2).element;
  out.element = static_cast<std::int32_t>(
      at.node.number("output_dtype", zero_point == 0 ? kOnnxUint8 : zero_point) & 0xFFFF);
  return {out};
}

Types dequantize(const TypeContext& at) {
  OnnxType out = at.type(0);
  out.element = at.type(1).element;
  return {out};
}

Types reshape(const TypeContext& at) {
  const OnnxExtents* wanted = at.data(1);
  const OnnxExtents* from = at.shape(0);
  if (wanted == nullptr || wanted->size() > kMostOnnxExtents) return {at.with(std::nullopt)};
  OnnxExtents out;
  std::size_t open = kNoIndex;
  for (std::size_t k = 0; k < wanted->size(); ++k) {
    OnnxExtent extent = (*wanted)[k];
    if (extent.is(0) && at.node.number("allowzero", 0) == 0) {
      extent = from != nullptr && k < from->size() ? (*from)[k] : OnnxExtent();
    }
    if (extent.is(-1)) {
      open = k;
      extent = 1;
    }
    out.push_back(extent);
  }
  if (open != kNoIndex) out[open] = from == nullptr ? OnnxExtent() : quotient(*from, out);
  return {at.with(out)};
}

Types flatten(const TypeContext& at) {
  const OnnxExtents* from = at.shape(0);
  if (from == nullptr) return {at.with(std::nullopt)};
  const std::int64_t given = at.node.number("axis", 1);
  const auto rank = static_cast<std::int64_t>(from->size());
  const std::int64_t axis = std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank);
  return {at.with(OnnxExtents{product(OnnxExtents(from->begin(), from->begin() + axis)),
                              product(OnnxExtents(from->begin() + axis, from->end()))})};
}

Types expand(const TypeContext& at) { return {at.with(broadcast(at.shape(0), at.data(1)))}; }

Types constant_of_shape(const TypeContext& at) {
  const OnnxExtents* data = at.data(0);
  OnnxType out = at.with(data == nullptr ? std::nullopt : std::optional(*data));
  out.element = 0;  // The library knows it.
  return {out};
}

Types tile(const TypeContext& at) {
  const OnnxExtents* from = at.shape(0);
  const OnnxExtents* times = at.data(1);
  if (from == nullptr || times == nullptr || from->size() != times->size()) return {};
  OnnxExtents out;
  for (std::size_t k = 0; k < from->size(); ++k) out.push_back((*from)[k] * (*times)[k]);
  return {at.with(out)};
}

Types concat(const TypeContext& at) {
  if (at.shape(0) == nullptr) return {};
  OnnxExtents out = *at.shape(0);
  const std::size_t axis = onnx_axis(at.node.number("axis", 1), out.size());
  if (axis == kNoIndex) return {};
  for (std::size_t k = 1; k < at.node.inputs.size(); ++k) {
    const OnnxExtents* part = at.shape(k);
    if (part == nullptr || part->size() != out.size()) return {};
    for (std::size_t a = 0; a < out.size(); ++a) {
      if (a == axis) out[a] = out[a] + (*part)[a];
      if (a != axis && !out[a].number() && (*part)[a].is_known()) out[a] = (*part)[a];
    }
  }
  return {at.with(out)};
}

Types slice(const TypeContext& at) {
  const auto slices = onnx_slices(at.model, at.node);
  if (at.shape(0) == nullptr) return {};
  OnnxExtents out = *at.shape(0);
  if (!slices) return {at.with(OnnxExtents(out.size()))};
  for (const OnnxSlice& one : *slices) out[one.axis] = one.length;
  return {at.with(out)};
}

Types split(const TypeContext& at) {
  const auto parts = onnx_split(at.model, at.node);
  if (!parts) return {};
  Types out;
  for (const OnnxExtent& length : parts->lengths) {
    OnnxExtents extents = *at.shape(0);
    extents[parts->axis] = length;
    out.push_back(at.with(extents));
  }
  return out;
}

Types gather(const TypeContext& at) {
  const OnnxExtents* from = at.shape(0);
  const OnnxExtents* indices = at.shape(1);
  if (from == nullptr || indices == nullptr) return {};
  const std::size_t axis = onnx_axis(at.node.number("axis", 0), from->size());
  if (axis == kNoIndex) return {};
  OnnxExtents out(from->begin(), from->begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), from->begin() + static_cast<std::ptrdiff_t>(axis) + 1, from->end());
  return {at.with(out)};
}

Types reduce(const TypeContext& at) {
  const OnnxExtents* from = at.shape(0);
  const bool has_input = at.node.input(1) != kNoIndex;
  if (from == nullptr || (has_input && at.data(1) == nullptr)) return {};
  OnnxExtents axes;
  if (has_input) {
    axes = *at.data(1);
  } else {
    const std::vector<std::int64_t> numbers = at.node.numbers("axes");
    axes.assign(numbers.begin(), numbers.end());
  }
  if (axes.empty() && at.node.number("noop_with_empty_axes", 0) != 0) return {at.type(0)};
  std::vector<bool> gone(from->size(), axes.empty());
  for (const OnnxExtent& axis : axes) {
    const std::size_t index = onnx_axis(axis.number().value_or(99), from->size());
    if (index == kNoIndex) return {};
    gone[index] = true;
  }
  OnnxExtents out;
  const bool keeps = at.node.number("keepdims", 1) != 0;
  for (std::size_t k = 0; k < from->size(); ++k) {
    if (!gone[k]) out.push_back((*from)[k]);
    if (gone[k] && keeps) out.emplace_back(1);
  }
  return {at.with(out)};
}

Types pad(const TypeContext& at) {
  const OnnxExtents* from = at.shape(0);
  const OnnxExtents* pads = at.data(1);
  const bool has_axes = at.node.input(3) != kNoIndex;
  if (from == nullptr || pads == nullptr || (has_axes && at.data(3) == nullptr)) return {};
  const std::size_t count = has_axes ? at.data(3)->size() : from->size();
  if (pads->size() != 2 * count) return {};
  OnnxExtents out = *from;
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t given =
        has_axes ? (*at.data(3))[k].number().value_or(99) : static_cast<std::int64_t>(k);
    const std::size_t axis = onnx_axis(given, out.size());
    if (axis == kNoIndex) return {};
    out[axis] = out[axis] + (*pads)[k] + (*pads)[k + count];
  }
  return {at.with(out)};
}

Types resize(const TypeContext& at) {
  const OnnxExtents* sizes = at.data(at.node.inputs.size() == 4 ? 3 : 9);
  if (sizes == nullptr || at.shape(0) == nullptr || sizes->size() != at.shape(0)->size()) return {};
  return {at.with(*sizes)};
}

/// With as many positions as a window of `reach` has at this stride.
OnnxExtent window_positions(const OnnxExtent& extent, std::int64_t reach, std::int64_t pads,
                            std::int64_t stride, bool up) {
  return floor_div(extent + OnnxExtent(pads) - OnnxExtent(reach) + OnnxExtent(up ? stride - 1 : 0),
                   stride) +
         1;
}

/// The spatial extents of convolutions and pooling, from the third on.
bool add_windows(const TypeContext& at, const OnnxExtents& kernel, OnnxExtents& out) {
  const OnnxExtents& from = *at.shape(0);
  const std::size_t count = kernel.size();
  if (from.size() != count + 2) return false;
  const auto given = [&](std::string_view name, std::size_t k, std::int64_t absent) {
    const std::vector<std::int64_t> list = at.node.numbers(name);
    return k < list.size() ? list[k] : absent;
  };
  const OnnxAttribute* automatic = at.node.attribute("auto_pad");
  const bool same = automatic != nullptr && automatic->text.starts_with("SAME");
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t stride = given("strides", k, 1);
    const OnnxExtent reach = (kernel[k] - 1) * given("dilations", k, 1) + 1;
    const OnnxExtent pads = OnnxExtent(given("pads", k, 0)) + given("pads", k + count, 0);
    if (stride <= 0 || !reach.number() || !pads.number()) return false;
    out.push_back(same ? floor_div(from[k + 2] + (stride - 1), stride)
                       : window_positions(from[k + 2], *reach.number(), *pads.number(), stride,
                                          at.node.number("ceil_mode", 0) != 0));
  }
  return true;
}

Types convolution(const TypeContext& at) {
  const OnnxExtents* from = at.shape(0);
  const OnnxExtents* weights = at.shape(1);
  if (from == nullptr || weights == nullptr || from->size() < 2 || weights->size() < 2) return {};
  OnnxExtents out = {(*from)[0], (*weights)[0]};
  if (!add_windows(at, OnnxExtents(weights->begin() + 2, weights->end()), out)) return {};
  return {at.with(out)};
}

Types pooling(const TypeContext& at) {
  const OnnxExtents* from = at.shape(0);
  if (from == nullptr || from->size() < 2) return {};
  const std::vector<std::int64_t> kernel = at.node.numbers("kernel_shape");
  OnnxExtents out = {(*from)[0], (*from)[1]};
  if (!add_windows(at, OnnxExtents(kernel.begin(), kernel.end()), out)) return {};
  return {at.with(out)};
}

Types range(const TypeContext& at) {
  const OnnxExtents* start = at.data(0);
  const OnnxExtents* limit = at.data(1);
  const OnnxExtents* delta = at.data(2);
  for (const OnnxExtents* data : {start, limit, delta}) {
    if (data == nullptr || data->size() != 1) return {at.with(OnnxExtents(1))};
  }
  if (!(*delta)[0].is(1)) return {at.with(OnnxExtents(1))};
  return {at.with(OnnxExtents{larger((*limit)[0] - (*start)[0], 0)})};
}

constexpr TypeRule kTypeRules[] = {
    {"Add", broadcast_all},
    {"And", compare},
    {"AveragePool", pooling},
    {"BatchNormalization", same_as_first},
    {"BitwiseAnd", broadcast_all},
    {"BitwiseNot", same_as_first},
    {"BitwiseOr", broadcast_all},
    {"BitwiseXor", broadcast_all},
    {"Cast", cast},
    {"CastLike", cast},
    {"Concat", concat},
    {"ConstantOfShape", constant_of_shape},
    {"Conv", convolution},
    {"DequantizeLinear", dequantize},
    {"Div", broadcast_all},
    {"Dropout", same_as_first},
    {"Equal", compare},
    {"Expand", expand},
    {"Flatten", flatten},
    {"Gather", gather},
    {"Gelu", same_as_first},
    {"Gradient", same_as_each},
    {"Greater", compare},
    {"GreaterOrEqual", compare},
    {"GroupNormalization", same_as_first},
    {"HardSwish", same_as_first},
    {"Identity", same_as_first},
    {"LRN", same_as_first},
    {"LayerNormalization", same_as_first},
    {"Less", compare},
    {"LessOrEqual", compare},
    {"MatMul", mat_mul},
    {"Max", broadcast_all},
    {"MaxPool", pooling},
    {"Mean", broadcast_all},
    {"Min", broadcast_all},
    {"Mish", same_as_first},
    {"Mul", broadcast_all},
    {"Or", compare},
    {"Pad", pad},
    {"Pow", broadcast_all},
    {"QuantizeLinear", quantize},
    {"RMSNormalization", same_as_first},
    {"Range", range},
    {"ReduceL1", reduce},
    {"ReduceL2", reduce},
    {"ReduceLogSum", reduce},
    {"ReduceLogSumExp", reduce},
    {"ReduceMax", reduce},
    {"ReduceMean", reduce},
    {"ReduceMin", reduce},
    {"ReduceProd", reduce},
    {"ReduceSum", reduce},
    {"ReduceSumSquare", reduce},
    {"Relu", same_as_first},
    {"Reshape", reshape},
    {"Resize", resize},
    {"RotaryEmbedding", same_as_first},
    {"ScatterElements", same_as_first},
    {"ScatterND", same_as_first},
    {"Sigmoid", same_as_first},
    {"SimplifiedLayerNormalization", same_as_first},
    {"Slice", slice},
    {"Softmax", same_as_first},
    {"Split", split},
    {"Sqrt", same_as_first},
    {"Sub", broadcast_all},
    {"Sum", broadcast_all},
    {"Swish", same_as_first},
    {"Tanh", same_as_first},
    {"Tile", tile},
    {"Where", where},
    {"Xor", compare},
};

}  // namespace

Types same_as_first(const TypeContext& at) { return {at.type(0)}; }

Types mat_mul(const TypeContext& at) {
  const OnnxExtents* a = at.shape(0);
  const OnnxExtents* b = at.shape(1);
  if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return {};
  const OnnxExtents outer_a(a->begin(), a->end() - 2);
  const OnnxExtents outer_b(b->begin(), b->end() - 2);
  std::optional<OnnxExtents> out = broadcast(&outer_a, &outer_b);
  const bool flip_a = at.node.number("transA", 0) != 0;
  const bool flip_b = at.node.number("transB", 0) != 0;
  out->push_back(flip_a ? a->back() : a->end()[-2]);
  out->push_back(flip_b ? b->end()[-2] : b->back());
  return {at.with(out)};
}

std::vector<OnnxType> onnx_types(const OnnxModel& model, const OnnxNode& node) {
  const TypeContext at{.model = model, .node = node};
  Types out;
  if (node.domain.empty() || node.domain == "ai.onnx.preview.training") {
    const auto* rule = std::ranges::find(kTypeRules, node.op, &TypeRule::op);
    if (rule != std::end(kTypeRules)) out = rule->apply(at);
  }
  if (node.domain == "com.microsoft") out = contrib_types(at);
  out.resize(node.outputs.size());
  return out;
}

}  // namespace memverify
