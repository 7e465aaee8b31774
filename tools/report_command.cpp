// `memverify report`: pictures of a plan.
#include <unistd.h>

#include <array>
#include <deque>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "plan/words.h"
#include "plan/writer.h"
#include "tools/command.h"
#include "tools/parse.h"
#include "tools/report_json.h"
#include "tools/report_page.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

struct PictureFormat {
  std::string_view name;
  std::string (*make)(const Drawing& drawing);  ///< nullptr: HTML, which takes two drawings.
};
constexpr std::array kPictureFormats = {
    PictureFormat{"html", nullptr},
    PictureFormat{"svg", arena_svg},
    PictureFormat{"dot", order_dot},
    PictureFormat{"perfetto", perfetto_trace},
};

struct ReportArguments {
  std::string file;
  std::string other;
  std::string output = "-";
  std::string format = "html";
  std::string time = "levels";
  EngineOptions engine;
  ImportRequest import;
  ColorMode color = ColorMode::kAuto;
};

/// What takes long, on a line of standard error while someone is looking.
class StageLine {
 public:
  StageLine() : is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~StageLine() { show(""); }
  StageLine(const StageLine&) = delete;
  StageLine& operator=(const StageLine&) = delete;
  void show(const std::string& stage) const {
    if (is_terminal_) write_error("\r\033[K" + stage);
  }

 private:
  bool is_terminal_;
};

void add_options(CLI::App& app, ReportArguments& given) {
  std::vector<std::string> formats;
  for (const PictureFormat& format : kPictureFormats) formats.emplace_back(format.name);
  app.add_option("FILE", given.file, "Plan file, or a file of another tool; - is standard input")
      ->required()
      ->type_name("");
  app.add_option("--output,-o", given.output, "Write the picture there; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--compare", given.other, "Another plan to set beside it (html)")
      ->type_name("FILE");
  app.add_option("--format", given.format,
                 "html: a page with everything; svg: the memory map alone; dot: the order of the "
                 "commands; perfetto: a trace for ui.perfetto.dev")
      ->check(one_of(formats))
      ->type_name("html|svg|dot|perfetto")
      ->capture_default_str();
  app.add_option("--time", given.time,
                 "The axis: levels (the longest chain of ops before), or ticks (the longest "
                 "durations that the plan gives)")
      ->check(one_of({"levels", "ticks"}))
      ->type_name("levels|ticks")
      ->capture_default_str();
  add_max_findings_option(app, given.engine.max_findings);
  add_from_option(app, given.import);
  add_import_options(app, given.import);
  add_color_option(app, given.color);
  app.footer(
      "The plan is verified first. The page is one file that loads nothing; of a large plan it\n"
      "holds the neighbourhoods of findings and peaks in full, the rest as sums. docs/report.md\n"
      "says how to read it.\n"
      "Exit code: 0 safe, 1 unsafe, 2 bad input or usage, 3 not proven, 4 internal error;\n"
      "of two plans the worse, in the order 1, 4, 2, 3, 0.\n"
      "\n"
      "Examples:\n"
      "  memverify report plan.json -o report.html\n"
      "  memverify report new.json --compare old.json -o report.html\n"
      "  memverify report plan.json --format perfetto -o trace.json");
}

/// Bad input and bugs met on the way, as `memverify verify` says them.
void print_problems(const Report& report, const Style& style) {
  write_error(text_errors(report.errors, style));
  for (const std::string& error : report.internal_errors) {
    write_error(style.error("internal error") + ": " + error + "\n");
  }
}

std::string picture(const ReportArguments& given, const std::vector<Drawing>& drawings) {
  for (const PictureFormat& format : kPictureFormats) {
    if (format.name == given.format && format.make != nullptr) return format.make(drawings[0]);
  }
  return html_page(drawings);
}

ExitCode write_picture(const ReportArguments& given, const std::string& text,
                       const std::string& last_line, ExitCode code) {
  StandardOutput output;
  if (given.output == "-") {
    output.write(text);
    write_error(last_line);
    return output.finish(code);
  }
  const std::string problem = replace_file(given.output, text);
  if (!problem.empty()) {
    write_error("memverify: " + problem + "\n");
    code = worse(code, ExitCode::kBadInput);
  }
  output.write(last_line);
  return output.finish(code);
}

}  // namespace

ExitCode report_command(const Arguments& arguments) {
  ReportArguments given;
  CLI::App app("Draws a plan: its memory over time, its queues, and the runs of its findings.",
               "memverify report");
  add_options(app, given);
  if (const auto code = parse(app, arguments)) return *code;
  if (!given.other.empty() && given.format != "html") {
    return usage_error("report", "--compare goes with --format html");
  }
  if (given.file == "-" && given.other == "-") {
    return usage_error("report", "standard input (-) can be read only once");
  }
  std::vector<std::string> files = {given.file};
  if (!given.other.empty()) files.push_back(given.other);
  for (const std::string& file : files) {
    std::error_code ignored;
    if (std::filesystem::equivalent(given.output, file, ignored)) {
      return usage_error("report", memverify::quoted(given.output) + " would be written over");
    }
  }
  const DrawnTime time = given.time == "ticks" ? DrawnTime::kTicks : DrawnTime::kLevels;
  const StageLine stage;
  std::deque<Report> reports;
  std::vector<Drawing> drawings;
  ExitCode code = ExitCode::kSafe;
  std::string last_line;
  for (const std::string& file : files) {
    stage.show("verifying " + printable(file) + " …");
    reports.push_back(verify_file(file, select_engines("auto"), given.engine, given.import));
    const Report& report = reports.back();
    stage.show("");
    print_problems(report, Style::of(given.color, stderr));
    write_error(assumptions_text(given.import, report.imported));
    code = worse(code, exit_code(report));
    last_line += "memverify: " + (files.size() > 1 ? printable(file) + ": " : "") +
                 outcome_line(report) + "\n";
    if (!report.errors.empty()) continue;
    stage.show("drawing " + printable(file) + " …");
    Result<Drawing> drawing = draw(report, time);
    if (drawing.ok()) {
      drawings.push_back(std::move(drawing).value());
      continue;
    }
    stage.show("");
    write_error("memverify report: cannot draw " + printable(file) + ": " +
                drawing.errors().front().message + "\n");
    code = worse(code, ExitCode::kBadInput);
  }
  if (drawings.size() < files.size()) {
    StandardOutput output;
    output.write(last_line);
    return output.finish(code);
  }
  stage.show("writing " + printable(given.output) + " …");
  const std::string text = picture(given, drawings);
  stage.show("");
  return write_picture(given, text, last_line, code);
}

}  // namespace memverify
