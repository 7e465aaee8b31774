// What the onnx library knows of operators.
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <exception>
#include <unordered_map>

#include "tools/onnx_protos.h"

namespace memverify {
namespace {

/// What newer opsets than the library's added to operators, so that results have other shapes: more
/// inputs than it knows, and attributes.
struct ChangedLater {
  std::string_view op;
  std::size_t most_inputs;
  std::string_view attributes[2];
};

constexpr ChangedLater kChangedLater[] = {
    {"AveragePool", 9, {"dilations", ""}},
    {"DFT", 2, {}},
    {"GridSample", 0, {}},
    {"Pad", 3, {}},
    {"QuantizeLinear", 9, {"output_dtype", ""}},
    {"ReduceL1", 1, {"noop_with_empty_axes", ""}},
    {"ReduceL2", 1, {"noop_with_empty_axes", ""}},
    {"ReduceLogSum", 1, {"noop_with_empty_axes", ""}},
    {"ReduceLogSumExp", 1, {"noop_with_empty_axes", ""}},
    {"ReduceMax", 1, {"noop_with_empty_axes", ""}},
    {"ReduceMean", 1, {"noop_with_empty_axes", ""}},
    {"ReduceMin", 1, {"noop_with_empty_axes", ""}},
    {"ReduceProd", 1, {"noop_with_empty_axes", ""}},
    {"ReduceSumSquare", 1, {"noop_with_empty_axes", ""}},
    {"Resize", 9, {"axes", "keep_aspect_ratio_policy"}},
    {"Split", 9, {"num_outputs", ""}},
};

bool is_changed(const OnnxNode& node) {
  const auto* found = std::ranges::find(kChangedLater, node.op, &ChangedLater::op);
  if (found == std::end(kChangedLater)) return false;
  return node.inputs.size() > found->most_inputs ||
         std::ranges::any_of(found->attributes, [&](std::string_view name) {
           return !name.empty() && node.attribute(name) != nullptr;
         });
}

void set_extent(const OnnxExtent& from, onnx::TensorShapeProto::Dimension& to) {
  if (from.number()) {
    to.set_dim_value(*from.number());
  } else if (from.is_known()) {
    to.set_dim_param(from.text());
  }
}

onnx::TypeProto proto_of(const OnnxType& type) {
  onnx::TypeProto out;
  onnx::TypeProto::Tensor& tensor = *out.mutable_tensor_type();
  tensor.set_elem_type(type.element);
  if (!type.shape) return out;
  tensor.mutable_shape();
  for (const OnnxExtent& extent : *type.shape)
    set_extent(extent, *tensor.mutable_shape()->add_dim());
  return out;
}

/// What is known of a list of integers: all of it, or a shape with symbols.
void add_data(const OnnxValue& value, onnx::TensorProto& tensor, onnx::TensorShapeProto& shape) {
  tensor.set_data_type(onnx::TensorProto::INT64);
  if (value.type.rank() == 1) tensor.add_dims(std::ssize(*value.data));
  for (const OnnxExtent& extent : *value.data) {
    if (extent.number()) tensor.add_int64_data(*extent.number());
    set_extent(extent, *shape.add_dim());
  }
}

const onnx::OpSchema* schema_of(const OnnxNode& node) {
  return onnx::OpSchemaRegistry::Schema(
      node.op, static_cast<int>(std::min<std::int64_t>(node.opset, 1 << 20)), node.domain);
}

}  // namespace

void OnnxFile::prepare_library() { onnx::OpSchemaRegistry::Schema("Identity"); }

bool OnnxFile::library_knows(const OnnxNode& node) const {
  if (node.opset <= 0 || schema_of(node) == nullptr) return false;
  const auto& versions = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto known = versions.find(node.domain);
  return known != versions.end() && (node.opset <= known->second.second || !is_changed(node));
}

std::vector<OnnxType> OnnxFile::infer(const OnnxNode& node, std::string& problem) const {
  std::vector<OnnxType> out(node.outputs.size());
  const onnx::OpSchema* schema = schema_of(node);
  if (schema == nullptr || !schema->has_type_and_shape_inference_function()) return out;
  onnx::NodeProto& proto = *protos_->nodes[node.proto];
  std::unordered_map<std::string, onnx::TypeProto> types;
  std::unordered_map<std::string, onnx::TypeProto*> type_of;
  std::unordered_map<std::string, const onnx::TensorProto*> data;
  std::unordered_map<std::string, onnx::TensorShapeProto> shapes;
  std::unordered_map<std::string, onnx::TensorProto> made;
  for (int i = 0; i < proto.input_size(); ++i) {
    const std::size_t index = node.inputs[static_cast<std::size_t>(i)];
    if (index == kNoIndex) continue;
    const OnnxValue& value = model_->values[index];
    const std::string& name = proto.input(i);
    if (value.type.kind == OnnxType::Kind::kTensor) {
      const auto [entry, is_new] = types.try_emplace(name, proto_of(value.type));
      type_of[name] = &entry->second;
    }
    if (value.proto != kNoIndex) {
      data[name] = protos_->tensors[value.proto];
    } else if (value.data && value.type.element == onnx::TensorProto::INT64) {
      add_data(value, made[name], shapes[name]);
      if (made[name].int64_data_size() == std::ssize(*value.data)) data[name] = &made[name];
    }
  }
  try {
    onnx::shape_inference::InferenceContextImpl context(proto, type_of, data, {}, &shapes);
    schema->GetTypeAndShapeInferenceFunction()(context);
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = onnx_type_from(context.allOutputTypes_[k]);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  return out;
}

OnnxType onnx_type_from(const onnx::TypeProto& from) {
  OnnxType type;
  if (from.has_sequence_type()) type.kind = OnnxType::Kind::kSequence;
  if (from.has_map_type()) type.kind = OnnxType::Kind::kMap;
  if (from.has_optional_type()) type.kind = OnnxType::Kind::kOptional;
  if (from.has_sparse_tensor_type()) type.kind = OnnxType::Kind::kSparse;
  if (!from.has_tensor_type()) return type;
  type.kind = OnnxType::Kind::kTensor;
  type.element = from.tensor_type().elem_type();
  const auto& shape = from.tensor_type().shape();
  const bool fits = shape.dim_size() <= static_cast<int>(kMostOnnxExtents);
  if (!from.tensor_type().has_shape() || !fits) return type;
  type.shape.emplace();
  for (const auto& extent : shape.dim()) {
    OnnxExtent out;
    if (extent.has_dim_value() && extent.dim_value() >= 0) out = extent.dim_value();
    if (extent.has_dim_param()) out = OnnxExtent::symbol(extent.dim_param());
    type.shape->push_back(out);
  }
  return type;
}

}  // namespace memverify
