// memverify import FORMAT FILE: another tool's file, as a plan.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plan/input_file.h"
#include "plan/writer.h"
#include "tools/command.h"
#include "tools/diagnostics.h"
#include "tools/importers.h"
#include "tools/parse.h"

namespace memverify {
namespace {

struct ImportOptions {
  std::string format;
  std::string file;
  std::string output = "-";
  bool assumptions = false;
  ColorMode color = ColorMode::kAuto;
};

std::string formats() {
  std::string out = "Formats:\n";
  for (const Importer& importer : importers()) {
    std::string name(importer.name);
    name.resize(14, ' ');
    out += "  " + name + std::string(importer.help) + " (" + std::string(importer.files) + ")\n";
  }
  return out +
         "\nExample:\n  memverify import st-edge-ai network_c_info.json -o plan.json "
         "--assumptions";
}

/// What the plan takes for granted, for standard error: standard output may be the plan.
std::string assumptions_text(const std::vector<std::string>& assumptions) {
  std::string out = "What the file does not say, and the plan takes for granted:\n";
  for (const std::string& assumption : assumptions) out += "  - " + assumption + "\n";
  return out;
}

ExitCode import_file(const ImportOptions& options, const Importer& importer) {
  // Errors of the plan that was made have no place in the file.
  const auto is_about_file = [](const Diagnostic& d) {
    return d.id.starts_with("json.") || d.id.starts_with("import.");
  };
  const auto refuse = [&](const std::vector<Diagnostic>& errors, std::string_view text) {
    const bool places = std::ranges::all_of(errors, is_about_file);
    write_error(text_errors(with_excerpts(errors, places ? text : "", options.file),
                            Style::of(options.color, stderr)));
    return ExitCode::kBadInput;
  };
  const Result<InputFile> input = InputFile::open(options.file);
  if (!input.ok()) return refuse(input.errors(), "");
  const Result<Imported> imported = importer.read(input.value().text(), options.file);
  if (!imported.ok()) return refuse(imported.errors(), input.value().text());
  if (options.assumptions) write_error(assumptions_text(imported.value().assumptions));
  const std::string problem = replace_file(options.output, write_plan(imported.value().plan));
  if (problem.empty()) return ExitCode::kSafe;
  write_error("memverify import: " + problem + "\n");
  return ExitCode::kBadInput;
}

}  // namespace

ExitCode import_command(const Arguments& arguments) {
  ImportOptions options;
  std::vector<std::string> names;
  for (const Importer& importer : importers()) names.emplace_back(importer.name);
  CLI::App app("Makes a plan from a file that another tool wrote.", "memverify import");
  app.add_option("FORMAT", options.format, "What the file is; see below")
      ->required()
      ->check(one_of(names))
      ->type_name("");
  app.add_option("FILE", options.file, "The file; - is standard input")->required()->type_name("");
  app.add_option("-o,--output", options.output, "Where the plan goes; - is standard output")
      ->capture_default_str()
      ->type_name("FILE");
  app.add_flag("--assumptions", options.assumptions,
               "Print what the file does not say and the plan takes for granted");
  add_color_option(app, options.color);
  app.footer(formats());
  if (const auto code = parse(app, arguments)) return *code;
  return import_file(options, *find_importer(options.format));
}

}  // namespace memverify
