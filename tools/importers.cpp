#include "tools/importers.h"

#include <algorithm>
#include <array>

#include "tools/executorch_program.h"
#include "tools/hlo_module.h"
#include "tools/hlo_text.h"
#include "tools/onnx_file.h"
#include "tools/tflite_model.h"

namespace memverify {
namespace {

constexpr std::array<std::string_view, 2> kEthosUOptions = {"--kernel-depth", "--ignore-waits"};

constexpr std::array<std::string_view, 4> kOnnxOptions = {"--dim", "--queues", "--dma", "--concat"};

bool is_st_edge_ai(std::string_view file, std::string_view /*text*/) {
  return file.ends_with("_c_info.json") || file.ends_with("_c_graph.json");
}

bool is_tflite_file(std::string_view file, std::string_view text) {
  return file.ends_with(".tflite") || is_tflite(text);
}

/// The name of the operator stands in the file as it is.
bool is_ethos_u_file(std::string_view file, std::string_view text) {
  return is_tflite_file(file, text) && text.find("ethos-u") != std::string_view::npos;
}

bool is_executorch_file(std::string_view file, std::string_view text) {
  return file.ends_with(".pte") || is_executorch(text);
}

bool is_xla_file(std::string_view file, std::string_view text) {
  return file.ends_with(".hlo_proto.pb") || file.ends_with(".hlo.pb") ||
         file.ends_with("-buffer-assignment.txt") || is_hlo_proto(text) || is_hlo_text(text);
}

/// JSON that names this key early on.
bool has_key(std::string_view text, std::string_view key) {
  constexpr std::size_t kEarly = 65'536;
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text[start] == '{' &&
         text.substr(start, kEarly).find(key) != std::string_view::npos;
}

bool is_tvm_graph_file(std::string_view /*file*/, std::string_view text) {
  return has_key(text, "\"arg_nodes\"") || has_key(text, "\"node_row_ptr\"");
}

bool is_kineto_file(std::string_view file, std::string_view text) {
  return file.ends_with(".trace.json") || has_key(text, "\"traceEvents\"");
}

bool is_onnx_file(std::string_view file, std::string_view text) {
  return file.ends_with(".onnx") || is_onnx(text);
}

constexpr std::array kImporters = {
    Importer{.name = "st-edge-ai",
             .help = "the report of ST Edge AI on the C code it generates",
             .files = "*_c_info.json, *_c_graph.json",
             .json = true,
             .takes = is_st_edge_ai,
             .read = import_st_edge_ai},
    Importer{.name = "ethos-u",
             .help = "Ethos-U command streams, as Vela writes them",
             .files = "*_vela.tflite",
             .takes = is_ethos_u_file,
             .read = import_ethos_u,
             .options = kEthosUOptions},
    Importer{.name = "tflite",
             .help = "a TensorFlow Lite model",
             .files = "*.tflite",
             .takes = is_tflite_file,
             .read = import_tflite},
    Importer{.name = "executorch",
             .help = "an ExecuTorch program",
             .files = "*.pte",
             .takes = is_executorch_file,
             .read = import_executorch},
    Importer{.name = "xla",
             .help = "XLA's HloProto, or its text dump of a buffer assignment",
             .files = "*.hlo_proto.pb, *.hlo.pb, *-buffer-assignment.txt",
             .takes = is_xla_file,
             .read = import_xla},
    Importer{.name = "tvm-graph",
             .help = "a graph of TVM's graph executor",
             .files = "*.json",
             .json = true,
             .takes = is_tvm_graph_file,
             .read = import_tvm_graph},
    Importer{.name = "kineto",
             .help = "a trace of PyTorch's profiler: a partial plan",
             .files = "*.trace.json",
             .json = true,
             .takes = is_kineto_file,
             .read = import_kineto},
    Importer{.name = "onnx",
             .help = "an ONNX model",
             .files = "*.onnx",
             .takes = is_onnx_file,
             .read = import_onnx,
             .options = kOnnxOptions},
};

}  // namespace

std::span<const Importer> importers() { return kImporters; }

const Importer* find_importer(std::string_view name) {
  const auto found = std::ranges::find(importers(), name, &Importer::name);
  return found == importers().end() ? nullptr : &*found;
}

const Importer* importer_of(std::string_view file, std::string_view text) {
  const auto found = std::ranges::find_if(
      importers(), [&](const Importer& importer) { return importer.takes(file, text); });
  return found == importers().end() ? nullptr : &*found;
}

}  // namespace memverify
