// tools/onnx_protos.h -- the protobuf messages behind an OnnxFile. Private to onnx_file.cpp, which
// reads them, and onnx_library.cpp, which asks the library about them.
#pragma once

#include <onnx/onnx_pb.h>

#include <vector>

#include "tools/onnx_file.h"

namespace memverify {

struct OnnxFile::Protos {
  onnx::ModelProto model;
  std::vector<onnx::NodeProto*> nodes;            ///< By OnnxNode::proto.
  std::vector<const onnx::TensorProto*> tensors;  ///< By OnnxValue::proto.
};

/// With the names of extents as they stand; without a shape if it has too many.
OnnxType onnx_type_from(const onnx::TypeProto& from);

}  // namespace memverify
