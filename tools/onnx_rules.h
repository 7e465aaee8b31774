// tools/onnx_rules.h -- what memverify itself knows of ONNX operators: shapes where the onnx
// library does not know them (newer operators, extents with names, operators of com.microsoft), and
// integers that become shapes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tools/onnx_model.h"

namespace memverify {

/// The types of the node's outputs, as far as the types and data of its inputs tell. Not for nodes
/// with graphs.
std::vector<OnnxType> onnx_types(const OnnxModel& model, const OnnxNode& node);

/// The elements of the node's first output, at most kMostOnnxData integers, row-major, if
/// those of its inputs tell.
std::optional<OnnxExtents> onnx_data(const OnnxModel& model, const OnnxNode& node);

/// Element k of every result depends on element k of the operands alone (after broadcasting).
bool onnx_is_elementwise(const OnnxNode& node);
/// The results are not the same every time.
bool onnx_is_random(const OnnxNode& node);
/// An axis counted from the end made one from the start; kNoIndex if there is none such.
std::size_t onnx_axis(std::int64_t axis, std::size_t rank);
/// The length of [start, end) with negative numbers counted from the end, of an extent.
OnnxExtent onnx_slice_length(const OnnxExtent& extent, const OnnxExtent& start,
                             const OnnxExtent& end);
/// What a slice takes, axis by axis; nullopt where it is not known.
struct OnnxSlice {
  std::size_t axis = 0;
  OnnxExtent start;  ///< From the front, within the extent.
  OnnxExtent length;
  std::int64_t step = 1;
};
std::optional<std::vector<OnnxSlice>> onnx_slices(const OnnxModel& model, const OnnxNode& node);
/// The axis of a Split and the length of each part; nullopt where they are not known.
struct OnnxSplit {
  std::size_t axis = 0;
  OnnxExtents lengths;
};
std::optional<OnnxSplit> onnx_split(const OnnxModel& model, const OnnxNode& node);

/// What a condition is known to be.
std::optional<bool> onnx_condition(const OnnxModel& model, std::size_t value);
/// How often the body of a Loop runs; not known if the body decides, or an operand.
OnnxExtent onnx_trips(const OnnxModel& model, const OnnxNode& loop);
/// How a Scan (of opset 9 or later) goes over its operands; nullopt if it contradicts itself.
struct OnnxScan {
  std::size_t states = 0;
  std::vector<std::size_t> input_axes;  ///< Of the operands after the states.
  OnnxExtent trips;
};
std::optional<OnnxScan> onnx_scan(const OnnxModel& model, const OnnxNode& node);

}  // namespace memverify
