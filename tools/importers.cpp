#include "tools/importers.h"

#include <algorithm>
#include <array>

namespace memverify {

std::span<const Importer> importers() {
  static constexpr std::array kImporters = {
      Importer{.name = "st-edge-ai",
               .help = "the report of ST Edge AI on the C code it generates",
               .files = "*_c_info.json, *_c_graph.json",
               .read = import_st_edge_ai},
  };
  return kImporters;
}

const Importer* find_importer(std::string_view name) {
  const auto found = std::ranges::find(importers(), name, &Importer::name);
  return found == importers().end() ? nullptr : &*found;
}

}  // namespace memverify
