// tools/onnx_model.h -- what an ONNX file says, as far as memory goes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/onnx_extent.h"

namespace memverify {

inline constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t kMostOnnxData = 256;  ///< Elements of a tensor whose values are kept.
inline constexpr std::size_t kMostOnnxExtents = 32;  ///< Of a tensor.

struct OnnxType {
  enum class Kind : std::uint8_t { kUnknown, kTensor, kSparse, kSequence, kMap, kOptional };
  Kind kind = Kind::kUnknown;
  std::int32_t element = 0;          ///< ONNX's number of the element type; 0: not known.
  std::optional<OnnxExtents> shape;  ///< Absent: not even its rank is known.

  bool is_complete() const;
  std::size_t rank() const { return shape ? shape->size() : 0; }
};

/// A name in a scope: made once, by the file, a caller or a node.
struct OnnxValue {
  std::string name;
  OnnxType type;
  bool used = false;                ///< A node reads it, or it is a result of its graph.
  bool stored = false;              ///< An initialiser: its bytes are in the file, or beside it.
  bool constant = false;            ///< Known before the program runs; never written.
  std::optional<OnnxExtents> data;  ///< Integers or Booleans, where they are known; row-major.
  std::size_t proto = kNoIndex;     ///< Its tensor in the file, for the library.
};

struct OnnxAttribute {
  std::string name;
  std::int64_t number = 0;
  float real = 0;
  std::vector<std::int64_t> numbers;
  std::string text;
  std::optional<OnnxExtents> data;  ///< Of a small tensor of integers.
  std::size_t graph = kNoIndex;
};

struct OnnxNode {
  std::string name;                  ///< May be "", or that of another node.
  std::string op;                    ///< "Conv"
  std::string domain;                ///< "" is ONNX's own.
  std::size_t index = 0;             ///< In its graph in the file.
  std::int64_t opset = 0;            ///< The version of its domain; 0: not stated.
  std::vector<std::size_t> inputs;   ///< Values; kNoIndex for one that is left out.
  std::vector<std::size_t> outputs;  ///< Likewise.
  std::vector<OnnxAttribute> attributes;
  std::size_t proto = kNoIndex;  ///< Of the library.
  OnnxExtent trips = {};         ///< Of a Loop, where the user says so.
  bool folded = false;           ///< Its results are constants.
  std::string problem = {};      ///< What the library has against it.

  bool is(std::string_view what) const { return domain.empty() && op == what; }
  const OnnxAttribute* attribute(std::string_view wanted) const;
  std::int64_t number(std::string_view wanted, std::int64_t absent) const;
  std::vector<std::int64_t> numbers(std::string_view wanted) const;  ///< Empty if absent.
  std::size_t input(std::size_t k) const { return k < inputs.size() ? inputs[k] : kNoIndex; }
  std::size_t output(std::size_t k) const { return k < outputs.size() ? outputs[k] : kNoIndex; }
  /// The graph of a branch or body; kNoIndex if there is none.
  std::size_t graph(std::string_view wanted) const;
};

struct OnnxGraph {
  std::string name;
  std::vector<OnnxNode> nodes;       ///< In the order in which they run.
  std::vector<std::size_t> inputs;   ///< Without those that are constants.
  std::vector<std::size_t> outputs;  ///< May name a value twice, or one of an outer graph.
  std::vector<std::size_t> values;   ///< Made in this graph.
};

struct OnnxModel {
  std::string name;  ///< Who made it; may be "".
  std::vector<OnnxGraph>
      graphs;  ///< The first is the main one; an inner one comes after its outer.
  std::vector<OnnxValue> values;   ///< Of all graphs.
  std::size_t bytes = 0;           ///< Of the file.
  std::vector<std::string> notes;  ///< Assumptions.
};

/// "" for one that has no dtype in a plan.
std::string_view onnx_dtype(std::int32_t element);
/// ONNX's name: "FLOAT"; "element type 99" for one not known here.
std::string onnx_element_name(std::int32_t element);
/// Bits of an element; 0 if it has none.
int onnx_element_bits(std::int32_t element);
/// "a tensor of STRING", "a sequence": what a plan cannot hold; "" for what it can.
std::string onnx_refused_type(const OnnxType& type);

}  // namespace memverify
