// tools/executorch_program.h -- what an ExecuTorch program (.pte) says, as far as memory goes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"

namespace memverify {

/// A value of a method: a tensor, a list of tensors, or something that has no memory.
struct PteValue {
  enum class Kind : std::uint8_t { kOther, kTensor, kList };
  Kind kind = Kind::kOther;
  std::string name;        ///< The name in the module; mostly "".
  std::string_view dtype;  ///< As in a plan; "" if only the bytes are known.
  std::int64_t scalar_type = 0;
  std::vector<std::int64_t> shape;  ///< In the order of memory, outermost first.
  std::int64_t bytes = 0;           ///< At most, where the shape is dynamic.
  bool dynamic = false;             ///< The shape is an upper bound.
  bool has_data = false;            ///< An initial value, in the file or beside it.
  bool external = false;            ///< … beside it.
  std::int64_t file_offset = 0;     ///< Of its data in the file.
  /// Where the compiler placed it; nullopt for constants and for what gets its place at run time.
  struct Place {
    std::int64_t memory = 0;
    std::int64_t offset = 0;
  };
  std::optional<Place> place;
  std::vector<std::size_t> items;  ///< Of a list: tensors.
};

struct PteCall {
  enum class Kind : std::uint8_t { kKernel, kDelegate, kFree };
  Kind kind = Kind::kKernel;
  std::string name;               ///< "aten::add", or the delegate's "XnnpackBackend".
  std::string overload;           ///< "out"
  std::vector<std::size_t> args;  ///< Values; of a kernel the last one is what it returns; of
                                  ///< a free the one that is freed.
};

struct PteMethod {
  std::string name;
  std::size_t methods = 1;  ///< How many the program has.
  std::vector<PteValue> values;
  std::vector<PteCall> calls;
  std::vector<std::size_t> inputs;  ///< Values.
  std::vector<std::size_t> outputs;
  std::vector<std::int64_t> memories;  ///< Bytes of each memory; number 0 is not used.
  std::int64_t file_bytes = 0;
};

/// Reads the first method of a program. Errors, with the path to what is at fault: "import.format"
/// (not an ExecuTorch program), "import.damaged", "import.unknown" (an index beyond its table),
/// "import.contradiction" (a place in a memory that the method does not have),
/// "import.range", and "import.unsupported" (types without a size, jumps). Cost and memory: linear
/// in the file.
Result<PteMethod> read_executorch(std::string_view text, std::string_view file);

/// True iff the file says that it is an ExecuTorch program.
bool is_executorch(std::string_view text);

}  // namespace memverify
