#include "tools/onnx_model.h"

#include <algorithm>
#include <array>

namespace memverify {
namespace {

struct OnnxElement {
  std::string_view name;
  std::string_view dtype;
  int bits;
};

/// By ONNX's number, TensorProto.DataType.
constexpr std::array<OnnxElement, 25> kOnnxElements = {{
    {"UNDEFINED", "", 0},        {"FLOAT", "f32", 32},     {"UINT8", "u8", 8},
    {"INT8", "i8", 8},           {"UINT16", "u16", 16},    {"INT16", "i16", 16},
    {"INT32", "i32", 32},        {"INT64", "i64", 64},     {"STRING", "", 0},
    {"BOOL", "bool", 8},         {"FLOAT16", "f16", 16},   {"DOUBLE", "f64", 64},
    {"UINT32", "u32", 32},       {"UINT64", "u64", 64},    {"COMPLEX64", "c64", 64},
    {"COMPLEX128", "c128", 128}, {"BFLOAT16", "bf16", 16}, {"FLOAT8E4M3FN", "f8", 8},
    {"FLOAT8E4M3FNUZ", "f8", 8}, {"FLOAT8E5M2", "f8", 8},  {"FLOAT8E5M2FNUZ", "f8", 8},
    {"UINT4", "u4", 4},          {"INT4", "i4", 4},        {"FLOAT4E2M1", "f4", 4},
    {"FLOAT8E8M0", "f8", 8},
}};

const OnnxElement* find_onnx_element(std::int32_t element) {
  if (element < 0 || element >= std::ssize(kOnnxElements)) return nullptr;
  return &kOnnxElements[static_cast<std::size_t>(element)];
}

}  // namespace

bool OnnxType::is_complete() const {
  return kind == Kind::kTensor && onnx_element_bits(element) > 0 && shape &&
         std::ranges::all_of(*shape, &OnnxExtent::is_known);
}

const OnnxAttribute* OnnxNode::attribute(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &OnnxAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::int64_t OnnxNode::number(std::string_view wanted, std::int64_t absent) const {
  const OnnxAttribute* found = attribute(wanted);
  return found == nullptr ? absent : found->number;
}

std::vector<std::int64_t> OnnxNode::numbers(std::string_view wanted) const {
  const OnnxAttribute* found = attribute(wanted);
  return found == nullptr ? std::vector<std::int64_t>() : found->numbers;
}

std::size_t OnnxNode::graph(std::string_view wanted) const {
  const OnnxAttribute* found = attribute(wanted);
  return found == nullptr ? kNoIndex : found->graph;
}

std::string_view onnx_dtype(std::int32_t element) {
  const OnnxElement* found = find_onnx_element(element);
  return found == nullptr ? "" : found->dtype;
}

std::string onnx_element_name(std::int32_t element) {
  const OnnxElement* found = find_onnx_element(element);
  return found == nullptr ? "element type " + std::to_string(element) : std::string(found->name);
}

int onnx_element_bits(std::int32_t element) {
  const OnnxElement* found = find_onnx_element(element);
  return found == nullptr ? 0 : found->bits;
}

std::string onnx_refused_type(const OnnxType& type) {
  switch (type.kind) {
    case OnnxType::Kind::kSparse:
      return "a sparse tensor";
    case OnnxType::Kind::kSequence:
      return "a sequence";
    case OnnxType::Kind::kMap:
      return "a map";
    case OnnxType::Kind::kOptional:
      return "an optional value";
    case OnnxType::Kind::kUnknown:
      return "";
    case OnnxType::Kind::kTensor:
      break;
  }
  if (type.element == 0 || onnx_element_bits(type.element) > 0) return "";
  return "a tensor of " + onnx_element_name(type.element);
}

}  // namespace memverify
