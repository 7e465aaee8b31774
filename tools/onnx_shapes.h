// tools/onnx_shapes.h -- types, shapes and known integers of every value of an ONNX model.
//
// Problem: the file declares few of them; the onnx library infers them operator by operator, is
// older
//   than many models, knows no arithmetic of names, and trusts its input.
// Idea: one walk in the order of the file. For each node the library is asked first, then the rules
//   of onnx_rules.h, then what the file declares; what one leaves open, the next fills in. Branches
//   and bodies are walked where their node stands. All this happens in a process of its own; where
//   that crashes, the walk is repeated here without the library.
// Cost: linear in the file.
// Tested by tests/unit/tools/import_onnx_test.cpp.
#pragma once

#include <span>

#include "tools/importers.h"
#include "tools/onnx_file.h"

namespace memverify {

/// Sets `type`, `data` and `constant` of the model's values, `folded` and `problem` of its nodes.
/// What stays unknown is left so. `--dim VALUE.AXIS=…` decides extents that nothing else tells. A
/// walk without the library is among the model's notes.
void infer_onnx(OnnxFile& file, std::span<const DimOption> dims, OnnxSymbols& symbols);

}  // namespace memverify
