#include "tools/fuzz_sources.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "planner/placed_plan.h"
#include "tools/load.h"
#include "tools/unplaced.h"

namespace memverify {
namespace {

namespace fs = std::filesystem;

std::string list_files(const std::string& path, std::vector<fs::path>& files) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (!fs::exists(path, error)) return "there is no " + memverify::quoted(path);
    files.emplace_back(path);
    return "";
  }
  for (auto at = fs::recursive_directory_iterator(path, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string suffix = at->path().extension().string();
    if (at->is_regular_file() && (suffix == ".json" || suffix == ".tflite")) {
      files.push_back(at->path());
    }
  }
  return error ? "cannot read " + memverify::quoted(path) + ": " + error.message() : "";
}

}  // namespace

std::string load_sources(const std::vector<std::string>& paths, FuzzSources& sources) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (std::string problem = list_files(path, files); !problem.empty()) return problem;
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    Loaded loaded = load_plan(file.string());
    if (!loaded.plan || loaded.plan->ops.size() > kMostSourceOps) {
      ++sources.skipped;
      continue;
    }
    if (unplaced_roots(*loaded.plan).empty()) {
      const PlanJson json = without_addresses(PlanJson::parse(write_plan(*loaded.plan)));
      Result<Plan> graph = read_plan(json.dump(), file.string());
      if (!graph.ok() || unplaced_roots(graph.value()).empty()) {
        ++sources.skipped;
        continue;
      }
      loaded.plan = std::move(graph).value();
    }
    sources.graphs.push_back(std::move(*loaded.plan));
    sources.names.push_back(file.filename().string());
  }
  return sources.graphs.empty() ? "there is no plan to start from" : "";
}

}  // namespace memverify
