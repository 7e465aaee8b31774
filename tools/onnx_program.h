// tools/onnx_program.h -- an ONNX model unfolded: every tensor once, every op once, in the order in
// which they run. What comes out knows nothing of ONNX any more but names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/result.h"
#include "tools/importers.h"
#include "tools/onnx_model.h"

namespace memverify {

struct OnnxTensor {
  std::string id;
  OnnxType type;                    ///< Complete.
  std::size_t base = kNoIndex;      ///< Of a view: what it is a view of.
  OnnxExtent offset = 0;            ///< Of a view: bytes from the base's element 0.
  std::size_t depth = 0;            ///< Views on the way to what an operator made, at most 64.
  std::vector<OnnxExtent> strides;  ///< Of a view that is not contiguous; in elements.
  std::size_t same_as = kNoIndex;   ///< Another tensor stands for this one.
  bool constant = false;
};

/// A tensor, or a part of it.
struct OnnxAccess {
  std::size_t tensor = kNoIndex;
  std::optional<std::pair<OnnxExtent, OnnxExtent>> part = {};  ///< Offset and size in bytes.
};

struct OnnxOp {
  std::string id;
  std::string label;
  bool view = false;  ///< Runs nothing.
  std::vector<OnnxAccess> reads;
  std::vector<OnnxAccess> writes;
  std::vector<std::pair<std::size_t, std::size_t>> in_place;  ///< Read, written.
  std::vector<std::pair<std::string, bool>> when;
  std::size_t decided_by = kNoIndex;  ///< The op that reads the innermost condition.
  OnnxExtent flops;                   ///< An estimate.
};

struct OnnxProgram {
  std::vector<OnnxTensor> tensors;
  std::vector<OnnxOp> ops;
  std::vector<std::string> conditions;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  std::vector<std::string> notes;

  std::size_t resolved(std::size_t tensor) const;  ///< Follows `same_as`.
  std::size_t root(std::size_t tensor) const;
};

/// Bytes of a tensor of this type, which must be complete.
OnnxExtent onnx_bytes(const OnnxType& type);

/// The program of a model whose types are inferred. Errors, each with the path of the node:
/// "import.unsupported" (a type, a size or a loop that a plan cannot say, by name), "import.range",
/// "import.contradiction". Ops and tensors are at most as many as the file has bytes, and 10,000
/// more.
Result<OnnxProgram> unfold_onnx(const OnnxModel& model, std::string_view file,
                                const ImportOptions& options);

/// What the node's results are of its first input: offsets in bytes, by output; nullopt if it
/// computes something, or moves bytes.
std::optional<std::vector<OnnxExtent>> onnx_view_offsets(const OnnxModel& model,
                                                         const OnnxNode& node);

/// Floating-point operations of a node, about.
OnnxExtent onnx_flops(const OnnxModel& model, const OnnxNode& node);

}  // namespace memverify
