// tools/tflite_model.h -- what a TensorFlow Lite file says, as far as memory goes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"

namespace memverify {

inline constexpr std::int32_t kTfliteCustom = 32;  ///< A custom operator, told by its name.
inline constexpr std::int32_t kTfliteIf = 118;

struct TfliteTensor {
  std::string name;                 ///< May be empty, or that of another tensor.
  std::vector<std::int64_t> shape;  ///< Every extent >= 0; a scalar has none.
  std::string_view dtype;           ///< As in a plan; "" if only the bytes are known.
  std::int64_t bytes = 0;
  bool constant = false;
  bool variable = false;               ///< Keeps its value from one run to the next.
  std::int64_t file_offset = 0;        ///< Of its data in the file, if it is constant.
  std::optional<std::int64_t> offset;  ///< In the arena, where OfflineMemoryAllocation gives one.
};

struct TfliteOperator {
  std::int32_t builtin = 0;
  std::string label;                ///< "CONV_2D"; of a custom operator its name.
  std::vector<std::size_t> inputs;  ///< Indices of tensors, without those left out.
  std::vector<std::size_t> outputs;
  std::array<std::size_t, 2> branches = {};  ///< Of an IF: the subgraphs for true and for false.

  bool is_ethos_u() const { return builtin == kTfliteCustom && label == "ethos-u"; }
};

struct TfliteGraph {
  bool read = false;  ///< Only those that can run are.
  std::vector<TfliteTensor> tensors;
  std::vector<TfliteOperator> operators;  ///< In the order in which they run.
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
};

struct TfliteModel {
  std::string_view bytes;           ///< The file.
  std::string name;                 ///< Who wrote it: "TOCO Converted."; may be "".
  std::vector<TfliteGraph> graphs;  ///< The first is the main one.
};

/// Reads `text`, which must outlive the model. Errors, with the path to what is at fault:
/// "import.format" (not TensorFlow Lite), "import.damaged", "import.unknown" (an index beyond its
/// table), "import.range", "import.contradiction", and "import.unsupported" (types without a size,
/// extents known only at run time, loops). Cost and memory: linear in the file.
Result<TfliteModel> read_tflite(std::string_view text, std::string_view file);

/// True iff the file says that it is TensorFlow Lite.
bool is_tflite(std::string_view text);

/// TensorFlow Lite's name of an operator, "CONV_2D"; "BUILTIN_n" for one not known here.
std::string tflite_operator_name(std::int32_t builtin);

/// True iff element k of the result depends on element k of the operands alone, or is a copy of
/// it: the result may take the bytes of an operand with as many elements of the same size.
bool tflite_is_elementwise(std::int32_t builtin);

}  // namespace memverify
