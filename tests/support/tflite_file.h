// tests/support/tflite_file.h -- TensorFlow Lite files for tests, as small as can be.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace memverify::testing {

struct TfliteFileTensor {
  std::string name;
  std::vector<std::int32_t> shape = {4};
  std::int8_t type = 9;  ///< INT8
  std::uint32_t buffer = 0;
  bool variable = false;
  bool sparse = false;
};

struct TfliteFileOp {
  std::uint32_t code = 0;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::vector<std::int32_t> branches = {};  ///< Of an IF.
};

struct TfliteFileGraph {
  std::vector<TfliteFileTensor> tensors;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::vector<TfliteFileOp> ops;
};

struct TfliteFile {
  std::vector<std::pair<std::int32_t, std::string>> codes;  ///< A number; 32 has a name.
  std::vector<TfliteFileGraph> graphs;
  std::vector<std::string> buffers = {""};
  std::vector<std::pair<std::string, std::uint32_t>> metadata = {};  ///< To a buffer.
};

/// Words of 32 bits, as a buffer.
inline std::string words(const std::vector<std::uint32_t>& list) {
  std::string out;
  for (const std::uint32_t word : list) {
    for (unsigned k = 0; k < 4; ++k) out += static_cast<char>((word >> (8 * k)) & 0xFFU);
  }
  return out;
}

class TfliteWriter {
 public:
  std::string write(const TfliteFile& file) {
    std::vector<Table> codes, buffers, graphs, metadata;
    for (const auto& [number, name] : file.codes) {
      const auto custom = builder_.CreateString(name);
      const auto start = builder_.StartTable();
      builder_.AddOffset(at(1), custom);
      builder_.AddElement<std::int32_t>(at(3), number, -1);
      codes.emplace_back(builder_.EndTable(start));
    }
    for (const std::string& bytes : file.buffers) {
      const auto data = bytes_of(bytes);
      const auto start = builder_.StartTable();
      if (!bytes.empty()) builder_.AddOffset(at(0), data);
      buffers.emplace_back(builder_.EndTable(start));
    }
    for (const TfliteFileGraph& graph : file.graphs) graphs.push_back(add(graph));
    for (const auto& [name, buffer] : file.metadata) {
      const auto text = builder_.CreateString(name);
      const auto start = builder_.StartTable();
      builder_.AddOffset(at(0), text);
      builder_.AddElement<std::uint32_t>(at(1), buffer, 0);
      metadata.emplace_back(builder_.EndTable(start));
    }
    const auto all_codes = builder_.CreateVector(codes);
    const auto all_graphs = builder_.CreateVector(graphs);
    const auto all_buffers = builder_.CreateVector(buffers);
    const auto all_metadata = builder_.CreateVector(metadata);
    const auto start = builder_.StartTable();
    builder_.AddElement<std::uint32_t>(at(0), 3, 0);
    builder_.AddOffset(at(1), all_codes);
    builder_.AddOffset(at(2), all_graphs);
    builder_.AddOffset(at(4), all_buffers);
    builder_.AddOffset(at(6), all_metadata);
    builder_.Finish(Table(builder_.EndTable(start)), "TFL3");
    return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
  }

 private:
  using Table = flatbuffers::Offset<void>;
  static flatbuffers::voffset_t at(int field) {
    return static_cast<flatbuffers::voffset_t>(4 + 2 * field);
  }
  flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> bytes_of(const std::string& bytes) {
    return builder_.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }

  Table add(const TfliteFileTensor& tensor) {
    const auto shape = builder_.CreateVector(tensor.shape);
    const auto name = builder_.CreateString(tensor.name);
    const auto sparsity = builder_.EndTable(builder_.StartTable());
    const auto start = builder_.StartTable();
    builder_.AddOffset(at(0), shape);
    builder_.AddElement<std::int8_t>(at(1), tensor.type, 0);
    builder_.AddElement<std::uint32_t>(at(2), tensor.buffer, 0);
    builder_.AddOffset(at(3), name);
    builder_.AddElement<std::uint8_t>(at(5), tensor.variable ? 1 : 0, 0);
    if (tensor.sparse) builder_.AddOffset(at(6), Table(sparsity));
    return Table(builder_.EndTable(start));
  }

  Table add(const TfliteFileOp& op) {
    const auto inputs = builder_.CreateVector(op.inputs);
    const auto outputs = builder_.CreateVector(op.outputs);
    Table options;
    if (!op.branches.empty()) {
      const auto start = builder_.StartTable();
      builder_.AddElement<std::int32_t>(at(0), op.branches[0], 0);
      builder_.AddElement<std::int32_t>(at(1), op.branches[1], 0);
      options = Table(builder_.EndTable(start));
    }
    const auto start = builder_.StartTable();
    builder_.AddElement<std::uint32_t>(at(0), op.code, 0);
    builder_.AddOffset(at(1), inputs);
    builder_.AddOffset(at(2), outputs);
    if (!op.branches.empty()) builder_.AddOffset(at(4), options);
    return Table(builder_.EndTable(start));
  }

  Table add(const TfliteFileGraph& graph) {
    std::vector<Table> tensors, ops;
    for (const TfliteFileTensor& tensor : graph.tensors) tensors.push_back(add(tensor));
    for (const TfliteFileOp& op : graph.ops) ops.push_back(add(op));
    const auto all_tensors = builder_.CreateVector(tensors);
    const auto all_ops = builder_.CreateVector(ops);
    const auto inputs = builder_.CreateVector(graph.inputs);
    const auto outputs = builder_.CreateVector(graph.outputs);
    const auto start = builder_.StartTable();
    builder_.AddOffset(at(0), all_tensors);
    builder_.AddOffset(at(1), inputs);
    builder_.AddOffset(at(2), outputs);
    builder_.AddOffset(at(3), all_ops);
    return Table(builder_.EndTable(start));
  }

  flatbuffers::FlatBufferBuilder builder_;
};

inline std::string tflite_bytes(const TfliteFile& file) { return TfliteWriter().write(file); }

}  // namespace memverify::testing
