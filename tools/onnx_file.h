// tools/onnx_file.h -- an ONNX file, and what the onnx library knows of its operators. The one
// owner of the onnx and protobuf libraries.
//
// The library is older than many models, and trusts them: what it says of one node is asked for
// with the types of its operands given, and may throw, crash or not come back (tools/isolated.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"
#include "tools/onnx_model.h"
#include "tools/onnx_symbols.h"

namespace memverify {

class OnnxFile {
 public:
  /// Errors: "import.damaged" (cut off, or not protobuf), "import.format" (no graph in it),
  /// "import.unknown" (a name that nothing before makes), "import.contradiction" (made twice, or
  /// data of another size than declared), "import.range", "import.unsupported" (sparse
  /// initialisers).
  static Result<OnnxFile> read(std::string_view text, std::string_view file, OnnxSymbols& symbols);
  OnnxFile(OnnxFile&&) noexcept;
  OnnxFile& operator=(OnnxFile&&) noexcept;
  ~OnnxFile();

  OnnxModel& model() { return *model_; }

  /// Loads the library's operators, once.
  static void prepare_library();
  /// True iff the library knows this operator as its opset defines it.
  bool library_knows(const OnnxNode& node) const;
  /// The types of the node's outputs as the library infers them; kUnknown where it does not.
  /// `problem` is set if it objects to the node. Nodes with graphs are not for it.
  std::vector<OnnxType> infer(const OnnxNode& node, std::string& problem) const;

 private:
  struct Protos;
  OnnxFile();
  friend class OnnxReader;
  std::unique_ptr<OnnxModel> model_;
  std::unique_ptr<Protos> protos_;
};

/// True iff the bytes begin as those of an ONNX file do: a version of the format, and who wrote it.
bool is_onnx(std::string_view text);

}  // namespace memverify
