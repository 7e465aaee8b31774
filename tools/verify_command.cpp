#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "plan/suggest.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/certificate_file.h"
#include "tools/parse.h"
#include "tools/report_json.h"
#include "tools/report_text.h"
#include "tools/verify_file.h"
#include "verify/smt_verify.h"

namespace memverify {
namespace {

struct VerifyArguments {
  std::vector<std::string> files;
  bool json = false;
  bool quiet = false;
  EngineOptions options;
  ImportRequest import;
  std::string certificate;
  std::string engine = "auto";
  ColorMode color = ColorMode::kAuto;
  std::string dump;
  bool timed = false;
};

std::vector<std::string> engine_names() {
  std::vector<std::string> names = {"auto", "all"};
  for (const Engine& engine : engines()) names.emplace_back(engine.name);
  return names;
}

void add_options(CLI::App& app, VerifyArguments& arguments) {
  app.add_option("FILE", arguments.files,
                 "Plan files, or files that memverify import reads; - is standard input")
      ->required()
      ->type_name("");
  add_from_option(app, arguments.import);
  add_import_options(app, arguments.import);
  add_format_option(app, arguments.json);
  add_max_findings_option(app, arguments.options.max_findings);
  std::string help = "Who decides: auto (the cheapest that can), all (each, and they must agree)";
  for (const Engine& engine : engines()) {
    help += ", " + std::string(engine.name) + " (" + std::string(engine.help) + ")";
  }
  app.add_option("--engine", arguments.engine, help)
      ->check(one_of(engine_names()))
      ->type_name("NAME")
      ->capture_default_str()
      ->take_last();
  app.add_option("--budget-seconds", arguments.options.max_seconds,
                 "Let an engine that searches end as not proven after this time; 0 is no limit")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--dump-smt2", arguments.dump,
                 "Write the whole question for other solvers (SMT-LIB 2.6): can a run go wrong?")
      ->type_name("FILE");
  app.add_flag(
      "--timed", arguments.timed,
      "Say too whether the plan is safe under its stated durations and delays; the verdict "
      "stays that of all runs");
  app.add_option("--certificate", arguments.certificate,
                 "Write the proof of the verdict, for memverify check-certificate")
      ->type_name("FILE")
      ->take_last();
  add_color_option(app, arguments.color);
  app.add_flag("--quiet,-q", arguments.quiet, "Only the last line for each file");
  app.footer(
      "Several files give a line each and a summary; with --format json an object a line.\n"
      "Exit code: 0 safe, 1 unsafe, 2 bad input or usage, 3 not proven, 4 internal error;\n"
      "of several files the worst, in the order 1, 4, 2, 3, 0.\n"
      "\n"
      "Examples:\n"
      "  memverify plan.json\n"
      "  memverify plans/*.json --quiet\n"
      "  my-compiler --dump-plan | memverify - --format json");
}

/// For the first file: a mistyped command is taken for a file.
std::string command_hint(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return "";
  Suggester suggester(file);
  for (const Command& command : commands()) suggester.consider(command.name);
  return suggester.best().empty() || suggester.best() == file
             ? ""
             : "memverify: " + memverify::quoted(file) + " is neither a file nor a command" +
                   suggester.hint() + "\n";
}

/// Where the plan of an internal error can be found: standard input is gone, so it is kept.
std::string plan_to_report(const Report& report) {
  if (report.file != "-") return printable(report.file);
  const std::string kept = "memverify-failed-plan.json";
  const std::string problem = replace_file(kept, write_plan(report.plan));
  return problem.empty() ? "kept in " + kept : problem;
}

void print_errors(const Report& report, const Style& style) {
  write_error(text_errors(report.errors, style));
  for (const std::string& error : report.internal_errors) {
    write_error(style.error("internal error") + ": " + error +
                "\nThis is a bug in memverify; please report it with the plan (" +
                plan_to_report(report) + ").\n");
  }
}

std::string single_report(const Report& report, const VerifyArguments& arguments,
                          const Style& style) {
  if (arguments.json) return json_report(report, JsonLayout::kPretty);
  if (!report.errors.empty() || arguments.quiet) {
    return "memverify: " + outcome_line(report) + "\n";
  }
  return text_report(report, style);
}

std::string summary(const std::map<std::string_view, std::int64_t>& counts, std::size_t files) {
  std::string line = "memverify: " + counted(static_cast<std::int64_t>(files), "file");
  std::string_view separator = ": ";
  for (const std::string_view outcome : {"unsafe", "error", "unknown", "safe"}) {
    const auto found = counts.find(outcome);
    if (found == counts.end()) continue;
    line += std::string(separator) + std::to_string(found->second) + " " + std::string(outcome);
    separator = ", ";
  }
  return line + "\n";
}

/// Timed runs are some of all runs: none of them can go wrong in a safe plan.
void ask_in_time(Report& report, const EngineOptions& options) {
  report.timed = verify_timed(report.plan, SmtOptions{.max_seconds = options.max_seconds});
  if (report.timed->verdict == Verdict::kUnsafe && report.verdict == Verdict::kSafe) {
    report.internal_errors.push_back("a timed run fails though the plan is safe: " +
                                     report.timed->fault);
  }
}

/// False, with a message, when the file cannot be made.
bool dump(const Report& report, const std::string& file) {
  const Result<std::string> text = dump_smt2(report.plan, SmtOptions{});
  if (!text.ok()) {
    write_error("memverify verify: no " + printable(file) + ": " + text.errors().front().message +
                "\n");
    return false;
  }
  const std::string problem = replace_file(file, text.value());
  if (!problem.empty()) write_error("memverify verify: " + problem + "\n");
  return problem.empty();
}

/// A verdict without a certificate stays what it is: the exit code says so.
ExitCode write_proof(const Report& report, const std::string& path, ExitCode code) {
  if (path.empty() || !report.errors.empty()) return code;
  const CertificateOutcome outcome = write_certificate_of(report, path);
  if (!outcome.none.empty()) {
    write_error("memverify: no certificate was written: " + outcome.none + "\n");
  }
  if (outcome.failed.empty()) return code;
  write_error("memverify: " + outcome.failed + "\n");
  return worse(code, ExitCode::kBadInput);
}

}  // namespace

ExitCode verify_command(const Arguments& arguments) {
  VerifyArguments given;
  CLI::App app("Decides whether plans are safe: no race, no wrong version, no deadlock in any run.",
               "memverify verify");
  add_options(app, given);
  if (const auto code = parse(app, arguments)) return *code;
  if (std::ranges::count(given.files, "-") > 1) {
    return usage_error("verify", "standard input (-) can be read only once");
  }
  if (!given.dump.empty() && given.files.size() > 1) {
    return usage_error("verify", "--dump-smt2 takes one plan");
  }
  if (!given.certificate.empty() && given.files.size() > 1) {
    return usage_error("verify", "--certificate takes one plan");
  }
  const EngineChoice chosen = select_engines(given.engine);
  const Style out_style = Style::of(given.color, stdout);
  const Style error_style = Style::of(given.color, stderr);
  const bool single = given.files.size() == 1;
  StandardOutput output;
  ExitCode code = ExitCode::kSafe;
  std::map<std::string_view, std::int64_t> counts;
  for (const std::string& file : given.files) {
    Report report = verify_file(file, chosen, given.options, given.import);
    if (given.timed && report.errors.empty()) ask_in_time(report, given.options);
    code = worse(code, exit_code(report));
    if (!given.dump.empty() && report.errors.empty() && !dump(report, given.dump)) {
      code = worse(code, ExitCode::kBadInput);
    }
    code = write_proof(report, given.certificate, code);
    ++counts[report.errors.empty() ? name(report.verdict) : "error"];
    print_errors(report, error_style);
    write_error(assumptions_text(given.import, report.imported));
    if (!report.errors.empty() && &file == &given.files.front()) write_error(command_hint(file));
    if (single) {
      output.write(single_report(report, given, out_style));
    } else if (given.json) {
      output.write(json_report(report, JsonLayout::kOneLine));
    } else {
      output.write(printable(file) + ": " + outcome_line(report) + "\n");
    }
  }
  if (!single && !given.json) output.write(summary(counts, given.files.size()));
  return output.finish(code);
}

}  // namespace memverify
