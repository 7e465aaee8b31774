// Tested by tests/unit/tools/import_onnx_test.cpp.
#include "tools/onnx_file.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "plan/words.h"
#include "tools/onnx_nesting.h"
#include "tools/onnx_protos.h"

namespace memverify {
namespace {

constexpr std::size_t kMostOnnxName = 200;  ///< Bytes of a name; the rest is left out.

/// Other bytes than ASCII end up as '?' in texts.
std::string clean_name(const std::string& name) {
  std::string out = name.substr(0, kMostOnnxName);
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

bool is_own_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

template <typename T>
void append_words(const std::string& raw, OnnxExtents& out) {
  for (std::size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T word{};
    std::memcpy(&word, raw.data() + at, sizeof(T));
    out.emplace_back(static_cast<std::int64_t>(word));
  }
}

/// The elements of a small tensor of integers or Booleans.
std::optional<OnnxExtents> data_of(const onnx::TensorProto& tensor, std::size_t elements) {
  if (elements > kMostOnnxData) return std::nullopt;
  OnnxExtents out;
  const auto type = tensor.data_type();
  if (tensor.has_raw_data()) {
    if (type == onnx::TensorProto::INT64) append_words<std::int64_t>(tensor.raw_data(), out);
    if (type == onnx::TensorProto::INT32) append_words<std::int32_t>(tensor.raw_data(), out);
    if (type == onnx::TensorProto::BOOL) append_words<std::uint8_t>(tensor.raw_data(), out);
  } else if (type == onnx::TensorProto::INT64) {
    for (const std::int64_t one : tensor.int64_data()) out.emplace_back(one);
  } else if (type == onnx::TensorProto::INT32 || type == onnx::TensorProto::BOOL) {
    for (const std::int32_t one : tensor.int32_data()) out.emplace_back(std::int64_t{one});
  }
  if (out.size() != elements) return std::nullopt;
  return out;
}

/// The library writes what it thinks of a file to standard error: it is said in a diagnostic.
class SilentProtobuf {
 public:
  SilentProtobuf() : before_(google::protobuf::SetLogHandler(nullptr)) {}
  ~SilentProtobuf() { google::protobuf::SetLogHandler(before_); }
  SilentProtobuf(const SilentProtobuf&) = delete;
  SilentProtobuf& operator=(const SilentProtobuf&) = delete;

 private:
  google::protobuf::LogHandler* before_;
};

}  // namespace

OnnxFile::OnnxFile() : model_(std::make_unique<OnnxModel>()), protos_(std::make_unique<Protos>()) {}
OnnxFile::OnnxFile(OnnxFile&&) noexcept = default;
OnnxFile& OnnxFile::operator=(OnnxFile&&) noexcept = default;
OnnxFile::~OnnxFile() = default;

/// Fills the model of an OnnxFile from its protos.
class OnnxReader {
 public:
  OnnxReader(OnnxFile& file, std::string_view name, OnnxSymbols& symbols)
      : model_(*file.model_), protos_(*file.protos_), file_(name), symbols_(symbols) {}

  std::vector<Diagnostic> read() {
    onnx::ModelProto& proto = protos_.model;
    for (const auto& opset : proto.opset_import()) {
      opsets_[is_own_domain(opset.domain()) ? "" : opset.domain()] = opset.version();
    }
    for (const auto& function : proto.functions()) {
      functions_.insert(function.domain() + ":" + function.name());
    }
    model_.name = clean_name(proto.producer_name());
    read_graph(*proto.mutable_graph(), "/graph");
    if (!functions_.empty()) {
      model_.notes.emplace_back(
          "A call of one of the model's own functions is one op; what happens inside is not in "
          "the plan.");
    }
    return std::move(errors_);
  }

 private:
  using Path = const std::string&;
  using Graph = onnx::GraphProto;

  void fail(std::string_view id, const std::string& message, Path path) {
    if (errors_.size() == 20) return;
    errors_.push_back(
        {.id = std::string(id), .message = message, .pointer = path, .file = std::string(file_)});
  }

  /// `is_branch`: of an If. Some writers list what it captures as inputs.
  std::size_t read_graph(Graph& proto, Path path, bool is_branch = false) {
    const std::size_t graph = model_.graphs.size();
    model_.graphs.emplace_back();
    model_.graphs[graph].name = clean_name(proto.name());
    const std::size_t mark = undo_.size();
    std::unordered_map<std::string, const onnx::TypeProto*> declared;
    for (const auto& info : proto.value_info()) declared.emplace(info.name(), &info.type());
    for (const auto& info : proto.output()) declared.emplace(info.name(), &info.type());
    read_initialisers(proto, graph, path);
    read_inputs(proto, graph, path, is_branch);
    for (int i = 0; i < proto.node_size() && errors_.empty(); ++i) {
      read_node(*proto.mutable_node(i), static_cast<std::size_t>(i), graph, declared, path);
    }
    for (int i = 0; i < proto.output_size() && errors_.empty(); ++i) {
      const std::string& name = proto.output(i).name();
      const std::size_t value = find(name);
      if (value == kNoIndex) {
        fail("import.unknown", "nothing makes the output " + memverify::quoted(clean_name(name)),
             path + "/output/" + std::to_string(i));
      }
      if (value != kNoIndex) model_.values[value].used = true;
      model_.graphs[graph].outputs.push_back(value);
    }
    leave_scope(mark);
    return graph;
  }

  void read_initialisers(const Graph& proto, std::size_t graph, Path path) {
    if (proto.sparse_initializer_size() > 0) {
      return fail("import.unsupported", "sparse initialisers have no size in the file",
                  path + "/sparse_initializer/0");
    }
    for (int i = 0; i < proto.initializer_size() && errors_.empty(); ++i) {
      const onnx::TensorProto& tensor = proto.initializer(i);
      read_constant(tensor, tensor.name(), graph, path + "/initializer/" + std::to_string(i));
    }
  }

  void read_inputs(const Graph& proto, std::size_t graph, Path path, bool is_branch) {
    for (int i = 0; i < proto.input_size() && errors_.empty(); ++i) {
      const auto& info = proto.input(i);
      const std::string at = path + "/input/" + std::to_string(i);
      const auto found = scope_.find(info.name());
      const bool is_default = found != scope_.end() && model_.values[found->second].constant &&
                              is_of(found->second, graph);
      if (is_default) continue;  // Old files list initialisers as inputs, too.
      if (is_branch && found != scope_.end()) continue;
      if (is_branch) return fail("import.contradiction", "nothing gives a branch an input", at);
      const std::size_t value = make(info.name(), graph, at);
      if (value == kNoIndex) return;
      model_.values[value].type = type_of(info.type());
      name_unknown_extents(value);
      model_.graphs[graph].inputs.push_back(value);
    }
  }

  bool is_of(std::size_t value, std::size_t graph) const { return graph_of_[value] == graph; }

  /// An extent of an input that has not even a name is a symbol of its own.
  void name_unknown_extents(std::size_t value) {
    OnnxValue& input = model_.values[value];
    if (graph_of_[value] != 0 || !input.type.shape) return;
    for (std::size_t k = 0; k < input.type.shape->size(); ++k) {
      OnnxExtent& extent = (*input.type.shape)[k];
      if (!extent.is_known()) extent = symbols_.named(input.name + "_" + std::to_string(k));
    }
  }

  void read_constant(const onnx::TensorProto& tensor, const std::string& name, std::size_t graph,
                     Path path) {
    const std::size_t value = make(name, graph, path);
    if (value == kNoIndex) return;
    OnnxValue& made = model_.values[value];
    made.constant = true;
    made.stored = true;
    made.type = {
        .kind = OnnxType::Kind::kTensor, .element = tensor.data_type(), .shape = OnnxExtents()};
    OnnxExtent elements = 1;
    for (const std::int64_t extent : tensor.dims()) {
      if (extent < 0) return fail("import.range", "an extent is negative", path);
      made.type.shape->emplace_back(extent);
      elements = elements * extent;
    }
    if (tensor.dims_size() > static_cast<int>(kMostOnnxExtents)) {
      return fail("import.unsupported", "more than 32 extents", path);
    }
    const std::int64_t count = elements.number().value_or(-1);
    if (count < 0) return fail("import.range", "more elements than 64 bits can count", path);
    const int bits = onnx_element_bits(tensor.data_type());
    if (tensor.has_raw_data() && bits > 0 && !tensor.has_segment() &&
        OnnxExtent(static_cast<std::int64_t>(tensor.raw_data().size())) !=
            floor_div(elements * bits + 7, 8)) {
      return fail("import.contradiction",
                  "its data has " + std::to_string(tensor.raw_data().size()) + " bytes, " +
                      std::to_string(count) + " elements of " +
                      onnx_element_name(tensor.data_type()) + " have another number",
                  path);
    }
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) return;  // Only the values are away.
    if (count <= static_cast<std::int64_t>(kMostOnnxData)) {
      made.proto = protos_.tensors.size();
      protos_.tensors.push_back(&tensor);
      made.data = data_of(tensor, static_cast<std::size_t>(count));
    }
  }

  /// A node `Constant` is a constant and no node.
  void read_constant_node(const onnx::NodeProto& proto, std::size_t graph, Path path) {
    if (proto.output_size() != 1 || proto.attribute_size() != 1) {
      return fail("import.contradiction", "a Constant has one attribute and one output", path);
    }
    const onnx::AttributeProto& from = proto.attribute(0);
    if (from.name() == "value" && from.has_t()) {
      return read_constant(from.t(), proto.output(0), graph, path);
    }
    const std::size_t value = make(proto.output(0), graph, path);
    if (value == kNoIndex) return;
    OnnxValue& made = model_.values[value];
    made.constant = true;
    made.stored = true;
    made.type.kind = OnnxType::Kind::kTensor;
    made.type.shape = OnnxExtents();
    const auto list = [&](std::int32_t element, int size) {
      made.type.element = element;
      made.type.shape->emplace_back(size);
    };
    if (from.name() == "value_int") {
      made.type.element = onnx::TensorProto::INT64;
      made.data = {OnnxExtent(from.i())};
    } else if (from.name() == "value_ints") {
      list(onnx::TensorProto::INT64, from.ints_size());
      if (from.ints_size() <= static_cast<int>(kMostOnnxData)) {
        made.data = OnnxExtents(from.ints().begin(), from.ints().end());
      }
    } else if (from.name() == "value_float") {
      made.type.element = onnx::TensorProto::FLOAT;
    } else if (from.name() == "value_floats") {
      list(onnx::TensorProto::FLOAT, from.floats_size());
    } else if (from.name() == "value_string" || from.name() == "value_strings") {
      made.type.element = onnx::TensorProto::STRING;
    } else {
      fail("import.unsupported",
           "a Constant with the attribute " + memverify::quoted(clean_name(from.name())) +
               " has no known size",
           path);
    }
  }

  void read_node(onnx::NodeProto& proto, std::size_t index, std::size_t graph,
                 const std::unordered_map<std::string, const onnx::TypeProto*>& declared,
                 Path graph_path) {
    const std::string path = graph_path + "/node/" + std::to_string(index);
    const std::string domain = is_own_domain(proto.domain()) ? "" : proto.domain();
    if (domain.empty() && proto.op_type() == "Constant") {
      return read_constant_node(proto, graph, path);
    }
    OnnxNode node{.name = clean_name(proto.name()),
                  .op = clean_name(proto.op_type()),
                  .domain = clean_name(domain)};
    if (functions_.contains(proto.domain() + ":" + proto.op_type())) node.domain = "function";
    const auto opset = opsets_.find(domain);
    node.opset = opset == opsets_.end() ? 0 : opset->second;
    node.index = index;
    node.proto = protos_.nodes.size();
    protos_.nodes.push_back(&proto);
    for (const std::string& name : proto.input()) {
      const std::size_t value = name.empty() ? kNoIndex : find(name);
      if (value == kNoIndex && !name.empty()) {
        return fail("import.unknown",
                    "it reads " + memverify::quoted(clean_name(name)) +
                        ", which no input, initialiser or earlier node makes",
                    path);
      }
      node.inputs.push_back(value);
      if (value != kNoIndex) model_.values[value].used = true;
    }
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      if (attribute.graphs_size() > 0) {
        return fail("import.unsupported", "a list of graphs as an attribute", path);
      }
    }
    for (auto& attribute : *proto.mutable_attribute()) {
      node.attributes.push_back(attribute_of(attribute, path));
      if (!errors_.empty()) return;
    }
    for (const std::string& name : proto.output()) {
      const std::size_t value = name.empty() ? kNoIndex : make(name, graph, path);
      node.outputs.push_back(value);
      const auto found = declared.find(name);
      if (value != kNoIndex && found != declared.end()) {
        model_.values[value].type = type_of(*found->second);
      }
    }
    model_.graphs[graph].nodes.push_back(std::move(node));
  }

  OnnxAttribute attribute_of(onnx::AttributeProto& from, Path path) {
    OnnxAttribute out{.name = clean_name(from.name()), .number = from.i(), .real = from.f()};
    out.numbers.assign(from.ints().begin(), from.ints().end());
    if (from.s().size() <= kMostOnnxName) out.text = from.s();
    if (from.has_t() && from.t().dims_size() <= 1) {
      const std::int64_t size = from.t().dims_size() == 0 ? 1 : from.t().dims(0);
      if (size >= 0) out.data = data_of(from.t(), static_cast<std::size_t>(size));
    }
    if (from.has_g()) {
      const bool is_branch = out.name == "then_branch" || out.name == "else_branch";
      out.graph = read_graph(*from.mutable_g(), path + "/" + out.name, is_branch);
    }
    return out;
  }

  OnnxType type_of(const onnx::TypeProto& from) {
    OnnxType type = onnx_type_from(from);
    if (!type.shape) return type;
    const auto& shape = from.tensor_type().shape();
    for (int k = 0; k < shape.dim_size(); ++k) {
      const std::string& name = shape.dim(k).dim_param();
      if (!name.empty()) (*type.shape)[static_cast<std::size_t>(k)] = symbols_.named(name);
    }
    return type;
  }

  std::size_t find(const std::string& name) const {
    const auto found = scope_.find(name);
    return found == scope_.end() ? kNoIndex : found->second;
  }

  /// A value of this name from here to the end of the graph; inner ones hide outer ones.
  std::size_t make(const std::string& name, std::size_t graph, Path path) {
    const std::size_t value = model_.values.size();
    const std::size_t before = find(name);
    if (before != kNoIndex && is_of(before, graph)) {
      fail("import.contradiction", memverify::quoted(clean_name(name)) + " is made twice", path);
      return kNoIndex;
    }
    undo_.emplace_back(name, before);
    scope_[name] = value;
    graph_of_.push_back(graph);
    model_.values.push_back({.name = clean_name(name)});
    model_.graphs[graph].values.push_back(value);
    return value;
  }

  void leave_scope(std::size_t mark) {
    for (; undo_.size() > mark; undo_.pop_back()) {
      const auto& [name, before] = undo_.back();
      if (before == kNoIndex) {
        scope_.erase(name);
      } else {
        scope_[name] = before;
      }
    }
  }

  OnnxModel& model_;
  OnnxFile::Protos& protos_;
  std::string_view file_;
  OnnxSymbols& symbols_;
  std::vector<Diagnostic> errors_;
  std::unordered_map<std::string, std::int64_t> opsets_;
  std::unordered_set<std::string> functions_;
  std::unordered_map<std::string, std::size_t> scope_;  ///< Name to value.
  std::vector<std::pair<std::string, std::size_t>> undo_;
  std::vector<std::size_t> graph_of_;  ///< By value.
};

bool is_onnx(std::string_view text) {
  // Field 1, ir_version: a small number; then field 2, producer_name, or 7, the graph, or 8.
  if (text.size() < 4 || text[0] != 8 || text[1] < 1 || text[1] > 32) return false;
  const char next = text[2];
  return next == 0x12 || next == 0x3a || next == 0x42 || next == 0x1a || next == 0x32;
}

Result<OnnxFile> OnnxFile::read(std::string_view text, std::string_view file,
                                OnnxSymbols& symbols) {
  const auto refuse = [&](std::string_view id, std::string message) {
    return Diagnostic{
        .id = std::string(id), .message = std::move(message), .file = std::string(file)};
  };
  OnnxFile out;
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return refuse(
        "import.range",
        "an ONNX file has at most 2 GiB; larger models keep their weights in other files");
  }
  const SilentProtobuf silent;
  if (!out.protos_->model.ParseFromArray(text.data(), static_cast<int>(text.size()))) {
    if (is_onnx_nested_too_deep(text)) {
      return refuse(
          "import.unsupported",
          "graphs are nested too deep in nodes of other graphs: more than protobuf reads");
    }
    return refuse("import.damaged",
                  "this is not an ONNX file, or it is damaged or cut off: protobuf cannot read it");
  }
  if (!out.protos_->model.has_graph())
    return refuse("import.format", "this is not an ONNX model: there is no graph in it");
  out.model_->bytes = text.size();
  std::vector<Diagnostic> errors = OnnxReader(out, file, symbols).read();
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace memverify
