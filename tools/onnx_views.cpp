// Which ONNX operators only look at bytes differently, and what the others cost.
//
// Tested by tests/unit/tools/import_onnx_test.cpp.
#include <algorithm>

#include "tools/onnx_program.h"
#include "tools/onnx_rules.h"

namespace memverify {
namespace {

using Offsets = std::optional<std::vector<OnnxExtent>>;

constexpr std::string_view kSameBytes[] = {"Flatten", "Identity", "Reshape", "Squeeze",
                                           "Unsqueeze"};

/// Extents of 1 may go anywhere; the others must stay in order.
bool moves_nothing(const OnnxModel& model, const OnnxNode& node) {
  const OnnxExtents& shape = *model.values[node.inputs[0]].type.shape;
  std::vector<std::int64_t> order = node.numbers("perm");
  if (order.empty()) {
    for (std::size_t k = shape.size(); k-- > 0;) order.push_back(static_cast<std::int64_t>(k));
  }
  std::int64_t last = -1;
  for (const std::int64_t axis : order) {
    if (axis < 0 || axis >= std::ssize(shape)) return false;
    if (shape[static_cast<std::size_t>(axis)].is(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

/// Unless the model may train, the result is the operand, and the mask says nothing.
bool is_dropout_of_inference(const OnnxModel& model, const OnnxNode& node) {
  const std::size_t mask = node.output(1);
  if (!node.is("Dropout") || (mask != kNoIndex && model.values[mask].used)) return false;
  return node.input(2) == kNoIndex || onnx_condition(model, node.inputs[2]) == false;
}

/// Slices along this axis are contiguous: all axes before it have one element.
bool is_outermost(const OnnxExtents& shape, std::size_t axis) {
  return std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis),
                     [](const OnnxExtent& extent) { return extent.is(1); });
}

/// Bytes from one index of the axis to the next; not known if that is no whole number.
OnnxExtent bytes_of_step(const OnnxType& type, std::size_t axis) {
  const auto after = type.shape->begin() + static_cast<std::ptrdiff_t>(axis) + 1;
  const OnnxExtent elements = product(OnnxExtents(after, type.shape->end()));
  const int bits = onnx_element_bits(type.element);
  if (bits >= 8) return elements * (bits / 8);
  const std::optional<std::int64_t> number = elements.number();
  return number && *number * bits % 8 == 0 ? OnnxExtent(*number * bits / 8) : OnnxExtent();
}

Offsets slice_offsets(const OnnxModel& model, const OnnxNode& node) {
  const OnnxType& type = model.values[node.inputs[0]].type;
  const auto slices = onnx_slices(model, node);
  if (!slices) return std::nullopt;
  const OnnxSlice* cut = nullptr;  // The one that takes less than everything.
  for (const OnnxSlice& slice : *slices) {
    if (slice.step != 1) return std::nullopt;
    if (slice.length == (*type.shape)[slice.axis]) continue;
    if (cut != nullptr) return std::nullopt;
    cut = &slice;
  }
  if (cut == nullptr) return std::vector<OnnxExtent>{0};
  if (!is_outermost(*type.shape, cut->axis)) return std::nullopt;
  const OnnxExtent offset = cut->start * bytes_of_step(type, cut->axis);
  return offset.is_known() ? Offsets({offset}) : std::nullopt;
}

Offsets split_offsets(const OnnxModel& model, const OnnxNode& node) {
  const OnnxType& type = model.values[node.inputs[0]].type;
  const auto split = onnx_split(model, node);
  if (!split || !is_outermost(*type.shape, split->axis)) return std::nullopt;
  const OnnxExtent step = bytes_of_step(type, split->axis);
  std::vector<OnnxExtent> offsets;
  OnnxExtent next = 0;
  for (const OnnxExtent& length : split->lengths) {
    offsets.push_back(next * step);
    if (!offsets.back().is_known()) return std::nullopt;
    next = next + length;
  }
  return offsets;
}

const OnnxExtents* shape_of(const OnnxModel& model, std::size_t value) {
  if (value == kNoIndex || !model.values[value].type.shape) return nullptr;
  return &*model.values[value].type.shape;
}

}  // namespace

Offsets onnx_view_offsets(const OnnxModel& model, const OnnxNode& node) {
  if (!node.domain.empty() || node.input(0) == kNoIndex || node.output(0) == kNoIndex) {
    return std::nullopt;
  }
  if (!model.values[node.inputs[0]].type.is_complete()) return std::nullopt;
  const bool same = std::ranges::find(kSameBytes, node.op) != std::end(kSameBytes) ||
                    (node.is("Transpose") && moves_nothing(model, node)) ||
                    is_dropout_of_inference(model, node);
  if (same) return std::vector<OnnxExtent>{0};
  if (node.is("Slice")) return slice_offsets(model, node);
  if (node.is("Split")) return split_offsets(model, node);
  return std::nullopt;
}

OnnxExtent onnx_flops(const OnnxModel& model, const OnnxNode& node) {
  const OnnxExtents* out = shape_of(model, node.output(0));
  const OnnxExtents* a = shape_of(model, node.input(0));
  const OnnxExtents* b = shape_of(model, node.input(1));
  if (out == nullptr) return 0;
  const OnnxExtent results = product(*out);
  const OnnxExtent two = 2;
  if (b != nullptr && !b->empty() && node.op.starts_with("Conv")) {
    // Each result is a sum over the weights of its channel.
    return two * results * product(OnnxExtents(b->begin() + 1, b->end()));
  }
  if (a == nullptr || a->empty() || b == nullptr) return results;
  if (node.op.find("MatMul") != std::string::npos || node.op == "Gemm") {
    const bool flipped = node.number("transA", 0) != 0 && a->size() > 1;
    return two * results * (flipped ? a->end()[-2] : a->back());
  }
  if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN") {
    const OnnxExtents* recurrent = shape_of(model, node.input(2));
    const OnnxExtent steps = product(OnnxExtents(a->begin(), a->end() - 1));
    return two * steps *
           (product(*b) + (recurrent == nullptr ? OnnxExtent(0) : product(*recurrent)));
  }
  if (node.op == "Attention" && a->size() == 3) return two * (*a)[0] * (*a)[1] * product(*b);
  return results;
}

}  // namespace memverify
