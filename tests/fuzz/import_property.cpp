#include "tests/fuzz/import_property.h"

#include <algorithm>
#include <vector>

#include "plan/reader.h"
#include "plan/writer.h"
#include "tools/importers.h"

namespace memverify {
namespace {

constexpr std::size_t kMoreOps = 10'016;  ///< Of a small file: loops may be unfolded.

std::string check_imported(const Result<Imported>& imported, std::size_t bytes) {
  if (!imported.ok()) {
    if (imported.errors().empty()) return "refused without an error";
    for (const Diagnostic& error : imported.errors()) {
      if (error.id.empty() || error.message.empty()) return "an incomplete error";
    }
    return "";
  }
  const Plan& plan = imported.value().plan;
  if (plan.ops.size() > bytes + kMoreOps) return std::to_string(plan.ops.size()) + " ops";
  const std::string written = write_plan(plan);
  const Result<Plan> again = read_plan(written, "");
  if (!again.ok()) {
    return "what was written is refused: " + to_string(again.errors()[0]) + "\n" + written;
  }
  return write_plan(again.value()) == written ? "" : "written differently the second time";
}

/// With and without what only some importers take.
std::vector<ImportOptions> options_for(const Importer& importer) {
  std::vector<ImportOptions> all(1);
  if (std::ranges::find(importer.options, "--queues") != importer.options.end()) {
    all.push_back({.queues = 3, .dma = 1, .alias_concat = true});
    all.push_back({.dims = {{.name = "Loop_0.trips", .min = 2, .max = 2}}});
  }
  return all;
}

}  // namespace

std::string check_importers(std::string_view bytes, int& accepted) {
  // In a buffer of its own, so that a sanitizer sees a read past the end.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const std::string_view text(copy.data(), copy.size());
  for (const Importer& importer : importers()) {
    for (const ImportOptions& options : options_for(importer)) {
      const Result<Imported> imported = importer.read(text, "f", options);
      if (imported.ok()) ++accepted;
      const std::string wrong = check_imported(imported, bytes.size());
      if (!wrong.empty()) return std::string(importer.name) + ": " + wrong;
    }
  }
  return "";
}

}  // namespace memverify
