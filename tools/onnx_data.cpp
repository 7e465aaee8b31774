// Integers that become shapes: what Shape gives, and what operators make of it.
//
// Tested by tests/unit/tools/import_onnx_test.cpp.
#include <algorithm>
#include <functional>

#include "tools/onnx_rules.h"

namespace memverify {
namespace {

using Data = std::optional<OnnxExtents>;

struct DataContext {
  const OnnxModel& model;
  const OnnxNode& node;

  const OnnxValue* value(std::size_t input) const {
    const std::size_t index = node.input(input);
    return index == kNoIndex ? nullptr : &model.values[index];
  }
  /// nullptr if it is not known.
  const OnnxExtents* data(std::size_t input) const {
    const OnnxValue* from = value(input);
    return from == nullptr || !from->data ? nullptr : &*from->data;
  }
};

Data shape_data(const DataContext& at) {
  const OnnxValue* input = at.value(0);
  if (input == nullptr || !input->type.shape) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(input->type.rank());
  const auto bound = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  const std::int64_t start = bound(at.node.number("start", 0));
  const std::int64_t end = std::max(start, bound(at.node.number("end", rank)));
  return OnnxExtents(input->type.shape->begin() + start, input->type.shape->begin() + end);
}

Data size_data(const DataContext& at) {
  const OnnxValue* input = at.value(0);
  if (input == nullptr || !input->type.shape) return std::nullopt;
  return OnnxExtents{product(*input->type.shape)};
}

Data same_data(const DataContext& at) {
  const OnnxExtents* data = at.data(0);
  return data == nullptr ? std::nullopt : Data(*data);
}

Data gather_data(const DataContext& at) {
  const OnnxExtents* from = at.data(0);
  const OnnxExtents* indices = at.data(1);
  if (from == nullptr || indices == nullptr || at.value(0)->type.rank() != 1) return std::nullopt;
  OnnxExtents out;
  for (const OnnxExtent& index : *indices) {
    if (!index.number()) return std::nullopt;
    const std::size_t place = onnx_axis(*index.number(), from->size());
    if (place == kNoIndex) return std::nullopt;
    out.push_back((*from)[place]);
  }
  return out;
}

Data concat_data(const DataContext& at) {
  OnnxExtents out;
  if (at.node.number("axis", 0) != 0) return std::nullopt;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    const OnnxExtents* part = at.data(k);
    if (part == nullptr || out.size() + part->size() > kMostOnnxData) return std::nullopt;
    out.insert(out.end(), part->begin(), part->end());
  }
  return out;
}

/// Of whole rows: along the first axis, forwards or backwards.
Data slice_data(const DataContext& at) {
  const OnnxExtents* from = at.data(0);
  const auto slices = onnx_slices(at.model, at.node);
  if (from == nullptr || !slices || slices->size() != 1 || (*slices)[0].axis != 0) {
    return std::nullopt;
  }
  const OnnxSlice& slice = (*slices)[0];
  const std::int64_t rows = (*at.value(0)->type.shape)[0].number().value_or(0);
  if (rows <= 0 || !slice.start.number() || !slice.length.number()) return std::nullopt;
  const std::int64_t width = std::ssize(*from) / rows;
  OnnxExtents out;
  for (std::int64_t k = 0; k < *slice.length.number(); ++k) {
    const std::int64_t row = *slice.start.number() + k * slice.step;
    if (row < 0 || row >= rows) return std::nullopt;
    out.insert(out.end(), from->begin() + row * width, from->begin() + (row + 1) * width);
  }
  return out;
}

Data transpose_data(const DataContext& at) {
  const OnnxExtents* from = at.data(0);
  if (from == nullptr || at.value(0)->type.rank() != 2) return std::nullopt;
  const std::vector<std::int64_t> order = at.node.numbers("perm");
  if (!order.empty() && order != std::vector<std::int64_t>{1, 0}) return std::nullopt;
  const std::optional<std::int64_t> columns = (*at.value(0)->type.shape)[1].number();
  if (columns.value_or(0) <= 0) return std::nullopt;
  OnnxExtents out;
  for (std::int64_t column = 0; column < *columns; ++column) {
    for (std::int64_t at_row = column; at_row < std::ssize(*from); at_row += *columns) {
      out.push_back((*from)[static_cast<std::size_t>(at_row)]);
    }
  }
  return out;
}

Data filled_data(const DataContext& at) {
  const OnnxExtents* shape = at.data(0);
  const OnnxAttribute* value = at.node.attribute("value");
  if (shape == nullptr || shape->size() > 1 || value == nullptr || !value->data)
    return std::nullopt;
  const std::int64_t count = product(*shape).number().value_or(-1);
  if (count < 0 || count > static_cast<std::int64_t>(kMostOnnxData)) return std::nullopt;
  if (value->data->size() != 1) return std::nullopt;
  return OnnxExtents(static_cast<std::size_t>(count), (*value->data)[0]);
}

Data range_data(const DataContext& at) {
  for (std::size_t k = 0; k < 3; ++k) {
    const OnnxExtents* data = at.data(k);
    if (data == nullptr || data->size() != 1 || !(*data)[0].number()) return std::nullopt;
  }
  const std::int64_t start = *(*at.data(0))[0].number();
  const std::int64_t delta = *(*at.data(2))[0].number();
  const OnnxExtent span = *at.data(1)->begin() - start;
  const OnnxExtent count = delta > 0 ? floor_div(span + (delta - 1), delta) : OnnxExtent();
  if (!count.number() || *count.number() > static_cast<std::int64_t>(kMostOnnxData)) {
    return std::nullopt;
  }
  OnnxExtents out;
  for (std::int64_t k = 0; k < *count.number(); ++k) out.emplace_back(start + k * delta);
  return out;
}

Data not_data(const DataContext& at) {
  const OnnxExtents* data = at.data(0);
  if (data == nullptr) return std::nullopt;
  OnnxExtents out;
  for (const OnnxExtent& one : *data) {
    out.push_back(one.number() ? OnnxExtent(*one.number() == 0 ? 1 : 0) : OnnxExtent());
  }
  return out;
}

/// Only what numbers, or the same text on both sides, tell.
template <typename Compare>
OnnxExtent compared(const OnnxExtent& a, const OnnxExtent& b) {
  if (a.number() && b.number()) return Compare()(*a.number(), *b.number()) ? 1 : 0;
  if (a == b) return Compare()(0, 0) ? 1 : 0;
  return {};
}

struct And {
  bool operator()(std::int64_t a, std::int64_t b) const { return a != 0 && b != 0; }
};
struct Or {
  bool operator()(std::int64_t a, std::int64_t b) const { return a != 0 || b != 0; }
};
OnnxExtent both(const OnnxExtent& a, const OnnxExtent& b) {
  return a.number() && b.number() ? compared<And>(a, b) : OnnxExtent();
}
OnnxExtent either(const OnnxExtent& a, const OnnxExtent& b) {
  return a.number() && b.number() ? compared<Or>(a, b) : OnnxExtent();
}

/// ONNX rounds towards 0.
OnnxExtent divided(const OnnxExtent& a, const OnnxExtent& b) {
  return a.number().value_or(0) < 0 ? OnnxExtent() : floor_div(a, b);
}

struct Binary {
  std::string_view op;
  OnnxExtent (*apply)(const OnnxExtent& a, const OnnxExtent& b);
};

constexpr Binary kBinaries[] = {{"Add", operator+ },
                                 {"Sub", operator- },
                                  {
                                      "Mul",
                                      operator* },
                                      {"Div", divided},
                                      {"Max", larger},
                                      {"Min", lesser},
                                      {"Equal", compared<std::equal_to<>>},
                                      {"Less", compared<std::less<>>},
                                      {"Greater", compared<std::greater<>>},
                                      {"LessOrEqual", compared<std::less_equal<>>},
                                      {"GreaterOrEqual", compared<std::greater_equal<>>},
                                      {"And", both},
                                      {"Or", either},
                                 };

Data binary_data(const DataContext& at, const Binary& binary) {
  const OnnxExtents* a = at.data(0);
  const OnnxExtents* b = at.data(1);
  if (a == nullptr || b == nullptr || at.node.inputs.size() != 2) return std::nullopt;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return std::nullopt;
  OnnxExtents out;
  const std::size_t size = a->empty() || b->empty() ? 0 : std::max(a->size(), b->size());
  for (std::size_t k = 0; k < size; ++k) {
    out.push_back(binary.apply((*a)[a->size() == 1 ? 0 : k], (*b)[b->size() == 1 ? 0 : k]));
  }
  return out;
}

struct DataRule {
  std::string_view op;
  Data (*apply)(const DataContext& at);
};

constexpr DataRule kDataRules[] = {
    {"Shape", shape_data},
    {"Size", size_data},
    {"Identity", same_data},
    {"Cast", same_data},
    {"Squeeze", same_data},
    {"Unsqueeze", same_data},
    {"Reshape", same_data},
    {"Flatten", same_data},
    {"Gather", gather_data},
    {"Concat", concat_data},
    {"Slice", slice_data},
    {"Transpose", transpose_data},
    {"ConstantOfShape", filled_data},
    {"Range", range_data},
    {"Not", not_data},
};

}  // namespace

Data onnx_data(const OnnxModel& model, const OnnxNode& node) {
  if (!node.domain.empty() || node.output(0) == kNoIndex) return std::nullopt;
  const OnnxType& type = model.values[node.outputs[0]].type;
  if (type.kind != OnnxType::Kind::kTensor || !type.shape) return std::nullopt;
  const DataContext at{.model = model, .node = node};
  Data out;
  if (const auto* rule = std::ranges::find(kDataRules, node.op, &DataRule::op);
      rule != std::end(kDataRules)) {
    out = rule->apply(at);
  }
  if (const auto* binary = std::ranges::find(kBinaries, node.op, &Binary::op);
      binary != std::end(kBinaries)) {
    out = binary_data(at, *binary);
  }
  const bool is_integer = type.element == 6 || type.element == 7 || type.element == 9;
  if (!out || !is_integer || out->size() > kMostOnnxData) return std::nullopt;
  return product(*type.shape) == OnnxExtent(std::ssize(*out)) ? out : std::nullopt;
}

}  // namespace memverify
