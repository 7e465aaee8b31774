// tools/onnx_type_rules.h -- what the rules for shapes see. Private to onnx_types.cpp (ONNX's
// operators) and onnx_contrib.cpp (those of com.microsoft).
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/onnx_rules.h"

namespace memverify {

using Types = std::vector<OnnxType>;

struct TypeContext {
  const OnnxModel& model;
  const OnnxNode& node;

  const OnnxType& type(std::size_t input) const {
    static const OnnxType kNothing;
    const std::size_t value = node.input(input);
    return value == kNoIndex ? kNothing : model.values[value].type;
  }
  const OnnxExtents* shape(std::size_t input) const {
    return type(input).shape ? &*type(input).shape : nullptr;
  }
  const OnnxExtents* data(std::size_t input) const {
    const std::size_t value = node.input(input);
    if (value == kNoIndex || !model.values[value].data) return nullptr;
    return &*model.values[value].data;
  }
  OnnxType with(std::optional<OnnxExtents> extents) const {
    return {
        .kind = OnnxType::Kind::kTensor, .element = type(0).element, .shape = std::move(extents)};
  }
};

struct TypeRule {
  std::string_view op;
  Types (*apply)(const TypeContext& at);
};

Types same_as_first(const TypeContext& at);
Types mat_mul(const TypeContext& at);
Types contrib_types(const TypeContext& at);

}  // namespace memverify
