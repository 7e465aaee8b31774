// What several parts of the importer need to know of single operators.
#include <algorithm>
#include <array>

#include "tools/onnx_rules.h"

namespace memverify {
namespace {

constexpr std::string_view kElementwise[] = {"Abs",
                                             "Acos",
                                             "Acosh",
                                             "Add",
                                             "And",
                                             "Asin",
                                             "Asinh",
                                             "Atan",
                                             "Atanh",
                                             "BatchNormalization",
                                             "BitShift",
                                             "BitwiseAnd",
                                             "BitwiseNot",
                                             "BitwiseOr",
                                             "BitwiseXor",
                                             "Cast",
                                             "CastLike",
                                             "Ceil",
                                             "Celu",
                                             "Clip",
                                             "Cos",
                                             "Cosh",
                                             "DequantizeLinear",
                                             "Div",
                                             "Dropout",
                                             "Elu",
                                             "Equal",
                                             "Erf",
                                             "Exp",
                                             "Floor",
                                             "Gelu",
                                             "Greater",
                                             "GreaterOrEqual",
                                             "HardSigmoid",
                                             "HardSwish",
                                             "IsInf",
                                             "IsNaN",
                                             "LeakyRelu",
                                             "Less",
                                             "LessOrEqual",
                                             "Log",
                                             "Max",
                                             "Mean",
                                             "Min",
                                             "Mish",
                                             "Mod",
                                             "Mul",
                                             "Neg",
                                             "Not",
                                             "Or",
                                             "Pow",
                                             "PRelu",
                                             "QuantizeLinear",
                                             "Reciprocal",
                                             "Relu",
                                             "Round",
                                             "Selu",
                                             "Shrink",
                                             "Sigmoid",
                                             "Sign",
                                             "Sin",
                                             "Sinh",
                                             "Softplus",
                                             "Softsign",
                                             "Sqrt",
                                             "Sub",
                                             "Sum",
                                             "Swish",
                                             "Tan",
                                             "Tanh",
                                             "ThresholdedRelu",
                                             "Where",
                                             "Xor"};
constexpr std::string_view kElementwiseContrib[] = {"BiasGelu", "FastGelu", "Gelu", "QuickGelu"};
constexpr std::string_view kRandom[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                        "RandomNormalLike", "RandomUniform", "RandomUniformLike"};

const OnnxExtents* known_data(const OnnxModel& model, std::size_t value) {
  if (value == kNoIndex || !model.values[value].data) return nullptr;
  return &*model.values[value].data;
}

/// The numbers of an input if there is one, else of an attribute; nullopt: not known.
std::optional<OnnxExtents> list_of(const OnnxModel& model, const OnnxNode& node, std::size_t input,
                                   std::string_view attribute) {
  if (node.input(input) != kNoIndex) {
    const OnnxExtents* data = known_data(model, node.input(input));
    return data == nullptr ? std::nullopt : std::optional(*data);
  }
  const std::vector<std::int64_t> numbers = node.numbers(attribute);
  return OnnxExtents(numbers.begin(), numbers.end());
}

OnnxExtent from_front(const OnnxExtent& index, const OnnxExtent& extent) {
  const std::optional<std::int64_t> number = index.number();
  if (!number) {  // A symbol is not negative; a difference may be.
    return index.text().find('-') == std::string::npos ? lesser(index, extent) : OnnxExtent();
  }
  if (*number < 0) return larger(extent + index, 0);
  if (*number == 0) return 0;
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 30U;  // Such ends mean the last element.
  return *number >= kNoLimit ? extent : lesser(index, extent);
}

/// With another step than 1; of numbers only.
void set_stepped(OnnxSlice& slice, const OnnxExtent& extent, const OnnxExtent& start,
                 const OnnxExtent& end) {
  slice.start = OnnxExtent();
  if (!extent.number() || !start.number() || !end.number() || slice.step == 0) return;
  const std::int64_t size = *extent.number();
  const bool back = slice.step < 0;
  const auto within = [&](std::int64_t index) {
    if (index < 0) index = index < -size ? -1 : index + size;
    return back ? std::clamp<std::int64_t>(index, -1, size - 1)
                : std::clamp<std::int64_t>(index, 0, size);
  };
  const std::int64_t from = within(*start.number());
  const std::int64_t to = within(*end.number());
  const std::int64_t span = std::max<std::int64_t>(back ? from - to : to - from, 0);
  // -2^63 has no positive counterpart.
  const std::int64_t step = back ? -(slice.step + 1) : slice.step - 1;  // Less one.
  slice.start = from;
  slice.length = span == 0 ? 0 : (span - 1) / (step + (step < size ? 1 : 0)) + 1;
}

}  // namespace

bool onnx_is_elementwise(const OnnxNode& node) {
  const auto in = [&](const auto& list) {
    return std::ranges::find(list, node.op) != std::end(list);
  };
  return (node.domain.empty() && in(kElementwise)) ||
         (node.domain == "com.microsoft" && in(kElementwiseContrib));
}

bool onnx_is_random(const OnnxNode& node) {
  if (std::ranges::find(kRandom, node.op) != std::end(kRandom)) return true;
  return node.op == "Dropout" && node.inputs.size() > 2;  // May be training.
}

std::size_t onnx_axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) return kNoIndex;
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

OnnxExtent onnx_slice_length(const OnnxExtent& extent, const OnnxExtent& start,
                             const OnnxExtent& end) {
  const OnnxExtent from = from_front(start, extent);
  const OnnxExtent to = from_front(end, extent);
  if (from.is(0)) return to;
  const OnnxExtent length = to - from;
  return length.is_known() ? larger(length, 0) : OnnxExtent();
}

std::optional<std::vector<OnnxSlice>> onnx_slices(const OnnxModel& model, const OnnxNode& node) {
  if (node.input(0) == kNoIndex || !model.values[node.input(0)].type.shape) return std::nullopt;
  const OnnxExtents& shape = *model.values[node.input(0)].type.shape;
  const std::optional<OnnxExtents> starts = list_of(model, node, 1, "starts");
  const std::optional<OnnxExtents> ends = list_of(model, node, 2, "ends");
  std::optional<OnnxExtents> axes = list_of(model, node, 3, "axes");
  const std::optional<OnnxExtents> steps = list_of(model, node, 4, "steps");
  if (!starts || !ends || !axes || !steps || starts->size() != ends->size()) return std::nullopt;
  if (axes->empty()) {
    for (std::size_t k = 0; k < starts->size(); ++k) {
      axes->emplace_back(static_cast<std::int64_t>(k));
    }
  }
  if (axes->size() != starts->size()) return std::nullopt;
  std::vector<OnnxSlice> slices;
  for (std::size_t k = 0; k < axes->size(); ++k) {
    const std::size_t axis = onnx_axis((*axes)[k].number().value_or(99), shape.size());
    const bool steps_known = steps->empty() || (k < steps->size() && (*steps)[k].number());
    if (axis == kNoIndex || !steps_known) return std::nullopt;
    OnnxSlice slice{.axis = axis, .start = from_front((*starts)[k], shape[axis])};
    if (!steps->empty()) slice.step = *(*steps)[k].number();
    if (slice.step == 1) slice.length = onnx_slice_length(shape[axis], (*starts)[k], (*ends)[k]);
    if (slice.step != 1) set_stepped(slice, shape[axis], (*starts)[k], (*ends)[k]);
    slices.push_back(slice);
  }
  return slices;
}

std::optional<OnnxSplit> onnx_split(const OnnxModel& model, const OnnxNode& node) {
  if (node.input(0) == kNoIndex || !model.values[node.input(0)].type.shape) return std::nullopt;
  const OnnxExtents& shape = *model.values[node.input(0)].type.shape;
  const std::size_t axis = onnx_axis(node.number("axis", 0), shape.size());
  if (axis == kNoIndex || node.outputs.empty()) return std::nullopt;
  OnnxSplit split{.axis = axis};
  const std::optional<OnnxExtents> lengths = list_of(model, node, 1, "split");
  if (!lengths) return std::nullopt;
  const auto parts = static_cast<std::int64_t>(node.outputs.size());
  split.lengths = *lengths;
  if (lengths->empty()) {
    // Equal parts, the last one smaller where it does not divide.
    const OnnxExtent part = floor_div(shape[axis] + (parts - 1), parts);
    for (std::int64_t k = 0; k + 1 < parts; ++k) split.lengths.push_back(part);
    split.lengths.push_back(shape[axis] - part * (parts - 1));
  }
  if (split.lengths.size() != node.outputs.size()) return std::nullopt;
  return split;
}

std::optional<bool> onnx_condition(const OnnxModel& model, std::size_t value) {
  const OnnxExtents* data = known_data(model, value);
  if (data == nullptr || data->size() != 1 || !(*data)[0].number()) return std::nullopt;
  return !(*data)[0].is(0);
}

OnnxExtent onnx_trips(const OnnxModel& model, const OnnxNode& loop) {
  if (loop.trips.is_known()) return loop.trips;
  const std::size_t body = loop.graph("body");
  const OnnxExtents* most = known_data(model, loop.input(0));
  if (body == kNoIndex || most == nullptr || most->size() != 1) return {};
  const bool starts = loop.input(1) == kNoIndex || onnx_condition(model, loop.input(1)) == true;
  const std::vector<std::size_t>& outputs = model.graphs[body].outputs;
  const bool goes_on = !outputs.empty() && onnx_condition(model, outputs[0]) == true;
  return starts && goes_on ? larger((*most)[0], 0) : OnnxExtent();
}

std::optional<OnnxScan> onnx_scan(const OnnxModel& model, const OnnxNode& node) {
  const std::int64_t scanned = node.number("num_scan_inputs", 0);
  if (node.opset < 9 || scanned < 1 || scanned > std::ssize(node.inputs)) return std::nullopt;
  OnnxScan scan{.states = node.inputs.size() - static_cast<std::size_t>(scanned)};
  const std::vector<std::int64_t> axes = node.numbers("scan_input_axes");
  for (std::size_t k = scan.states; k < node.inputs.size(); ++k) {
    if (node.inputs[k] == kNoIndex) return std::nullopt;
    const OnnxType& type = model.values[node.inputs[k]].type;
    const std::size_t which = k - scan.states;
    const std::size_t axis = onnx_axis(which < axes.size() ? axes[which] : 0, type.rank());
    if (axis == kNoIndex) return std::nullopt;
    scan.input_axes.push_back(axis);
    if (!scan.trips.is_known()) scan.trips = (*type.shape)[axis];
  }
  return scan;
}

}  // namespace memverify
