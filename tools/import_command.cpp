// memverify import FORMAT FILE: another tool's file, as a plan.
#include <string>
#include <string_view>
#include <vector>

#include "plan/writer.h"
#include "tools/command.h"
#include "tools/diagnostics.h"
#include "tools/load.h"
#include "tools/parse.h"

namespace memverify {
namespace {

struct ImportCommandOptions {
  ImportRequest request;
  std::string file;
  std::string output = "-";
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
         "\nExample:\n  memverify import ethos-u model_vela.tflite -o plan.json --assumptions";
}

ExitCode import_file(const ImportCommandOptions& options) {
  const Loaded loaded = load_plan(options.file, nullptr, options.request);
  if (!loaded.plan) {
    write_error(text_errors(loaded.errors, Style::of(options.color, stderr)));
    return ExitCode::kBadInput;
  }
  write_error(assumptions_text(options.request, loaded.assumptions));
  const std::string problem = replace_file(options.output, write_plan(*loaded.plan));
  if (problem.empty()) return ExitCode::kSafe;
  write_error("memverify import: " + problem + "\n");
  return ExitCode::kBadInput;
}

}  // namespace

ExitCode import_command(const Arguments& arguments) {
  ImportCommandOptions options;
  std::vector<std::string> names;
  for (const Importer& importer : importers()) names.emplace_back(importer.name);
  CLI::App app("Makes a plan from a file that another tool wrote.", "memverify import");
  app.add_option("FORMAT", options.request.from, "What the file is; see below")
      ->required()
      ->check(one_of(names))
      ->type_name("");
  app.add_option("FILE", options.file, "The file; - is standard input")->required()->type_name("");
  app.add_option("-o,--output", options.output, "Where the plan goes; - is standard output")
      ->capture_default_str()
      ->type_name("FILE");
  add_import_options(app, options.request);
  add_color_option(app, options.color);
  app.footer(formats());
  if (const auto code = parse(app, arguments)) return *code;
  return import_file(options);
}

}  // namespace memverify
