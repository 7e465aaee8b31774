#include "tools/load.h"

#include <algorithm>
#include <utility>

#include "plan/input_file.h"
#include "plan/reader.h"
#include "tools/gunzip.h"
#include "tools/importers.h"

namespace memverify {
namespace {

constexpr std::string_view kOwnFormat = "plan";

/// nullptr for a plan file.
const Importer* chosen_importer(const ImportRequest& request, const std::string& path,
                                std::string_view text) {
  if (request.from == kOwnFormat) return nullptr;
  return request.from.empty() ? importer_of(path, text) : find_importer(request.from);
}

bool has_option(const Importer& importer, std::string_view option) {
  return std::ranges::find(importer.options, option) != importer.options.end();
}

std::vector<Diagnostic> wrong_options(const ImportRequest& request, const Importer* importer) {
  std::vector<Diagnostic> errors;
  for (const std::string_view option : given(request.options)) {
    if (importer != nullptr && has_option(*importer, option)) {
      continue;
    }
    errors.push_back({.id = "import.option",
                      .message = std::string(option) + " is not for files of the format " +
                                 std::string(importer == nullptr ? kOwnFormat : importer->name)});
  }
  return errors;
}

/// Errors of the plan that was made have no place in the file; only JSON and some text have lines.
bool have_places(const Importer* importer, const std::vector<Diagnostic>& errors) {
  return importer == nullptr ||
         std::ranges::all_of(errors, [](const Diagnostic& d) { return d.line > 0; }) ||
         (importer->json && std::ranges::all_of(errors, [](const Diagnostic& d) {
            return d.id.starts_with("json.") || d.id.starts_with("import.");
          }));
}

}  // namespace

Loaded load_plan(const std::string& path,
                 const std::function<std::vector<Diagnostic>(const Plan&)>& check,
                 const ImportRequest& request) {
  const std::string name = path == "-" ? "<stdin>" : path;
  const Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return {.errors = with_excerpts(file.errors(), "", name)};
  std::string_view text = file.value().text();
  std::string suffixed = path;
  Result<std::string> unpacked = std::string();
  if (is_gzip(text)) {
    unpacked = gunzip(text);
    if (!unpacked.ok()) return {.errors = with_excerpts(unpacked.errors(), "", name)};
    text = unpacked.value();
    if (suffixed.ends_with(".gz")) suffixed.resize(suffixed.size() - 3);
  }
  const Importer* importer = chosen_importer(request, suffixed, text);
  if (std::vector<Diagnostic> wrong = wrong_options(request, importer); !wrong.empty()) {
    return {.errors = with_excerpts(std::move(wrong), "", name)};
  }
  const auto refuse = [&](const std::vector<Diagnostic>& errors) {
    return Loaded{.errors = with_excerpts(errors, have_places(importer, errors) ? text : "", name)};
  };
  Loaded loaded;
  if (importer == nullptr) {
    Result<Plan> plan = read_plan(text, name);
    if (!plan.ok()) return refuse(plan.errors());
    loaded.plan = std::move(plan).value();
  } else {
    Result<Imported> imported = importer->read(text, name, request.options);
    if (!imported.ok()) return refuse(imported.errors());
    loaded.plan = std::move(imported.value().plan);
    loaded.is_imported = true;
    loaded.takes_dims = has_option(*importer, "--dim");
    loaded.assumptions = std::move(imported.value().assumptions);
  }
  if (check) {
    if (const std::vector<Diagnostic> wrong = check(*loaded.plan); !wrong.empty()) {
      return refuse(wrong);
    }
  }
  return loaded;
}

}  // namespace memverify
