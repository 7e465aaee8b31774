// The fields of a TensorFlow Lite file by their numbers.
//
// Tested by tests/unit/tools/import_tflite_test.cpp.
#include "tools/tflite_model.h"

#include <algorithm>
#include <utility>

#include "plan/words.h"
#include "tools/flat_table.h"

namespace memverify {
namespace {

constexpr std::size_t kMostNameBytes = 200;  ///< Of a name; the rest is left out.
constexpr std::size_t kMostExtents = 16;
constexpr std::int64_t kMostTensorBytes = std::int64_t{1} << 48U;
constexpr std::string_view kOffsets = "OfflineMemoryAllocation";

struct TfliteType {
  std::string_view name;
  std::string_view dtype;  ///< "": has no size of its own.
  int bits;
};

constexpr TfliteType kTypes[] = {
    {"FLOAT32", "f32", 32},   {"FLOAT16", "f16", 16}, {"INT32", "i32", 32},
    {"UINT8", "u8", 8},       {"INT64", "i64", 64},   {"STRING", "", 0},
    {"BOOL", "bool", 8},      {"INT16", "i16", 16},   {"COMPLEX64", "c64", 64},
    {"INT8", "i8", 8},        {"FLOAT64", "f64", 64}, {"COMPLEX128", "c128", 128},
    {"UINT64", "u64", 64},    {"RESOURCE", "", 0},    {"VARIANT", "", 0},
    {"UINT32", "u32", 32},    {"UINT16", "u16", 16},  {"INT4", "i4", 4},
    {"BFLOAT16", "bf16", 16},
};

struct OperatorCode {
  std::int32_t builtin = 0;
  std::string custom;
};

class TfliteReader {
 public:
  TfliteReader(FlatFile& file, TfliteModel& model) : file_(file), model_(model) {}

  void read() {
    const FlatTable root = file_.root();
    model_.name = short_name(root.text(3, "description"));
    for (const FlatTable& code : root.tables(1, "operator_codes")) {
      // Old files have a field for numbers up to 127 only.
      const std::int64_t builtin = std::max(code.i8(0), code.i32(3));
      codes_.push_back(
          {static_cast<std::int32_t>(builtin), short_name(code.text(1, "custom_code"))});
    }
    buffers_ = root.tables(4, "buffers");
    graphs_ = root.tables(2, "subgraphs");
    if (graphs_.empty()) {
      if (file_.errors().empty()) root.fail("import.format", "the file has no subgraph");
      return;
    }
    model_.graphs.resize(graphs_.size());
    reach(0);
    while (!to_read_.empty() && file_.errors().empty()) {
      const std::size_t next = to_read_.back();
      to_read_.pop_back();
      read_graph(graphs_[next], model_.graphs[next]);
    }
    if (file_.errors().empty()) read_offsets(root.tables(6, "metadata"));
  }

 private:
  /// Names end up in texts: of other bytes than ASCII, only the number is kept.
  static std::string short_name(std::string_view name) {
    std::string out(name.substr(0, kMostNameBytes));
    std::ranges::replace_if(
        out, [](char c) { return c < ' ' || c > '~'; }, '?');
    return out;
  }

  void reach(std::size_t graph) {
    if (!std::exchange(model_.graphs[graph].read, true)) to_read_.push_back(graph);
  }

  void read_graph(const FlatTable& from, TfliteGraph& graph) {
    for (const FlatTable& tensor : from.tables(0, "tensors")) {
      graph.tensors.emplace_back();
      read_tensor(tensor, graph.tensors.back());
    }
    graph.inputs = tensor_list(from, 1, "inputs", graph);
    graph.outputs = tensor_list(from, 2, "outputs", graph);
    for (const FlatTable& op : from.tables(3, "operators")) {
      graph.operators.emplace_back();
      read_operator(op, graph, graph.operators.back());
    }
  }

  void read_tensor(const FlatTable& from, TfliteTensor& tensor) {
    tensor.name = short_name(from.text(3, "name"));
    tensor.variable = from.u8(5) != 0;
    const std::size_t buffer = static_cast<std::size_t>(from.u32(2));
    if (buffer >= buffers_.size()) {
      return from.fail("import.unknown", "there is no buffer " + std::to_string(buffer));
    }
    read_data(buffers_[buffer], tensor);
    const std::int64_t type = from.i8(1);
    if (type < 0 || type >= std::ssize(kTypes)) {
      return from.fail("import.unsupported",
                       "element type " + std::to_string(type) + " is not known");
    }
    read_size(from, kTypes[type], tensor);
  }

  /// The data of a constant: in the buffer, or after the FlatBuffer where a file is large.
  void read_data(const FlatTable& buffer, TfliteTensor& tensor) {
    const std::string_view data = buffer.data(0, "data");
    tensor.bytes = static_cast<std::int64_t>(data.size());
    if (!data.empty()) {
      tensor.file_offset = data.data() - model_.bytes.data();
    } else if (buffer.u64(1) > 1) {
      tensor.file_offset = buffer.u64(1);
      tensor.bytes = buffer.u64(2);
      const auto size = static_cast<std::int64_t>(model_.bytes.size());
      if (tensor.file_offset > size || tensor.bytes > size - tensor.file_offset) {
        buffer.fail("import.range", "the data of this buffer ends after the file");
      }
    }
    tensor.constant = tensor.bytes > 0;
  }

  void read_size(const FlatTable& from, const TfliteType& type, TfliteTensor& tensor) {
    const std::vector<std::int32_t> shape = from.i32s(0, "shape");
    const std::string what = "tensor " + memverify::quoted(tensor.name);
    if (shape.size() > kMostExtents) {
      return from.fail("import.unsupported",
                       what + " has " + std::to_string(shape.size()) + " extents");
    }
    const bool sized = !type.dtype.empty() && !from.has(6);  // 6: sparsity.
    if (!sized && tensor.constant) return;                   // As many bytes as its data.
    if (!sized) {
      return from.fail("import.unsupported", what + " is of type " + std::string(type.name) +
                                                 (from.has(6) ? ", sparse" : "") +
                                                 ": its size is not in the file");
    }
    std::int64_t bits = type.bits;
    for (const std::int32_t extent : shape) {
      if (extent < 0) {
        return from.fail("import.unsupported", what + " has an extent known only at run time");
      }
      if (extent > 0 && bits > 8 * kMostTensorBytes / extent) {
        return from.fail("import.range", what + " has more than 2^48 bytes");
      }
      bits *= extent;
      tensor.shape.push_back(extent);
    }
    const std::int64_t bytes = (bits + 7) / 8;
    if (tensor.constant && tensor.bytes != bytes) {
      return from.fail("import.contradiction", what + " takes " + std::to_string(bytes) +
                                                   " bytes, but its data has " +
                                                   std::to_string(tensor.bytes));
    }
    tensor.bytes = bytes;
    tensor.dtype = type.dtype;
  }

  /// Indices of tensors; -1 stands for an operand that is left out.
  std::vector<std::size_t> tensor_list(const FlatTable& from, int field, std::string_view name,
                                       const TfliteGraph& graph) {
    std::vector<std::size_t> list;
    for (const std::int32_t index : from.i32s(field, name)) {
      if (index == -1) continue;
      if (index < 0 || static_cast<std::size_t>(index) >= graph.tensors.size()) {
        from.fail("import.unknown", "there is no tensor " + std::to_string(index));
        break;
      }
      list.push_back(static_cast<std::size_t>(index));
    }
    return list;
  }

  void read_operator(const FlatTable& from, const TfliteGraph& graph, TfliteOperator& op) {
    const auto code = static_cast<std::size_t>(from.u32(0));
    if (code >= codes_.size()) {
      return from.fail("import.unknown", "there is no operator code " + std::to_string(code));
    }
    op.builtin = codes_[code].builtin;
    op.label = op.builtin == kTfliteCustom ? codes_[code].custom : tflite_operator_name(op.builtin);
    op.inputs = tensor_list(from, 1, "inputs", graph);
    op.outputs = tensor_list(from, 2, "outputs", graph);
    if (op.builtin == kTfliteIf) return read_branches(from, op);
    for (const std::string_view refused : {"WHILE", "CALL_ONCE", "CALL"}) {
      if (op.builtin != kTfliteCustom && op.label == refused) {
        from.fail(
            "import.unsupported",
            op.label + " runs another subgraph as often as it likes, which a plan cannot say");
      }
    }
  }

  void read_branches(const FlatTable& from, TfliteOperator& op) {
    const FlatTable options = from.table(4, "builtin_options");
    for (int k = 0; k < 2; ++k) {
      const std::int64_t graph = options.i32(k);
      if (graph < 0 || static_cast<std::size_t>(graph) >= graphs_.size()) {
        return from.fail("import.unknown", "there is no subgraph " + std::to_string(graph));
      }
      op.branches[static_cast<std::size_t>(k)] = static_cast<std::size_t>(graph);
      reach(static_cast<std::size_t>(graph));
    }
  }

  /// The places of the main subgraph's tensors: a version, a number that is not used, how many
  /// follow, then an offset each, -1 for none.
  void read_offsets(const std::vector<FlatTable>& metadata) {
    for (const FlatTable& entry : metadata) {
      if (entry.text(0, "name") != kOffsets) continue;
      const auto buffer = static_cast<std::size_t>(entry.u32(1));
      if (buffer >= buffers_.size()) {
        return entry.fail("import.unknown", "there is no buffer " + std::to_string(buffer));
      }
      const std::string_view data = buffers_[buffer].data(0, "data");
      std::vector<TfliteTensor>& tensors = model_.graphs[0].tensors;
      if (data.size() != 4 * (3 + tensors.size()) ||
          word_at(data, 2) != static_cast<std::int64_t>(tensors.size())) {
        return entry.fail("import.contradiction", std::string(kOffsets) +
                                                      " has not one offset for "
                                                      "each of the " +
                                                      std::to_string(tensors.size()) + " tensors");
      }
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::int64_t offset = word_at(data, 3 + i);
        if (offset < -1) {
          return entry.fail("import.range",
                            "offset " + std::to_string(offset) + " of tensor " + std::to_string(i));
        }
        if (offset >= 0 && !tensors[i].constant) tensors[i].offset = offset;
      }
    }
  }

  static std::int64_t word_at(std::string_view data, std::size_t index) {
    std::uint32_t word = 0;
    for (std::size_t k = 4; k-- > 0;) {
      word = (word << 8U) | static_cast<unsigned char>(data[4 * index + k]);
    }
    return static_cast<std::int32_t>(word);
  }

  FlatFile& file_;
  TfliteModel& model_;
  std::vector<OperatorCode> codes_;
  std::vector<FlatTable> buffers_;
  std::vector<FlatTable> graphs_;
  std::vector<std::size_t> to_read_;
};

}  // namespace

bool is_tflite(std::string_view text) { return text.size() > 8 && text.substr(4, 4) == "TFL3"; }

Result<TfliteModel> read_tflite(std::string_view text, std::string_view file) {
  FlatFile flat(text, file);
  TfliteModel model{.bytes = text};
  if (!is_tflite(text)) {
    flat.fail("import.format", "this is not a TensorFlow Lite file: \"TFL3\" is not at byte 4", "");
  } else {
    TfliteReader(flat, model).read();
  }
  if (!flat.errors().empty()) return flat.errors();
  return model;
}

}  // namespace memverify
