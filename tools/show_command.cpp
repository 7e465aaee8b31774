#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/show_text.h"

namespace memverify {

ExitCode show_command(const Arguments& arguments) {
  std::vector<std::string> files;
  ColorMode color = ColorMode::kAuto;
  CLI::App app("Prints what is in a plan: pools, storages, tensors with their views, queues.",
               "memverify show");
  app.add_option("FILE", files, "Plan files; - is standard input")->required()->type_name("");
  add_color_option(app, color);
  app.footer("Example:\n  memverify show plan.json");
  if (const auto code = parse(app, arguments)) return *code;
  StandardOutput output;
  ExitCode code = ExitCode::kSafe;
  std::string_view separator;
  for (const std::string& file : files) {
    const Loaded loaded = load_plan(file);
    if (!loaded.plan) {
      write_error(text_errors(loaded.errors, Style::of(color, stderr)));
      code = ExitCode::kBadInput;
      continue;
    }
    output.write(std::string(separator) + show_plan(*loaded.plan));
    separator = "\n";
  }
  return output.finish(code);
}

}  // namespace memverify
