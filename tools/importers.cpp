#include "tools/importers.h"

#include <algorithm>
#include <array>

#include "tools/tflite_model.h"

namespace memverify {
namespace {

constexpr std::array<std::string_view, 2> kEthosUOptions = {"--kernel-depth", "--ignore-waits"};

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
