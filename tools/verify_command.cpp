#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "plan/input_file.h"
#include "plan/suggest.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/ask_device.h"
#include "tools/baseline.h"
#include "tools/certificate_file.h"
#include "tools/parse.h"
#include "tools/report_format.h"
#include "tools/verify_file.h"
#include "verify/smt_verify.h"

namespace memverify {
namespace {

struct VerifyArguments {
  std::vector<std::string> files;
  std::string format = "text";
  std::vector<std::string> outputs;
  std::string baseline;
  std::string accept;
  bool shrink_only = false;
  bool quiet = false;
  EngineOptions options;
  ImportRequest import;
  std::string certificate;
  std::string engine = "auto";
  ColorMode color = ColorMode::kAuto;
  std::string dump;
  bool timed = false;
  bool with_device = false;
};

std::vector<std::string> engine_names() {
  std::vector<std::string> names = {"auto", "all"};
  for (const Engine& engine : engines()) names.emplace_back(engine.name);
  return names;
}

CLI::Validator not_blank() {
  return CLI::Validator(
      [](const std::string& text) {
        return std::string(is_blank(text) ? "must not be empty" : "");
      },
      "");
}

void add_format_options(CLI::App& app, VerifyArguments& arguments) {
  std::vector<std::string> names;
  std::string help;
  for (const NamedFormat& format : report_formats()) {
    names.emplace_back(format.name);
    help += (help.empty() ? "" : "; ") + std::string(format.name) + ": " + std::string(format.help);
  }
  app.add_option("--format", arguments.format, help)
      ->check(one_of(names))
      ->type_name("FORMAT")
      ->capture_default_str()
      ->take_last();
  app.add_option("--output", arguments.outputs, "Write the report to a file, too; several times")
      ->type_name("FORMAT=FILE")
      ->allow_extra_args(false);
  app.add_option("--baseline", arguments.baseline,
                 "Findings that this file accepts, each with a reason, do not count")
      ->check(not_blank())
      ->type_name("FILE")
      ->take_last();
  app.add_option("--accept", arguments.accept,
                 "Enter what was found into the baseline, for this reason")
      ->check(not_blank())
      ->type_name("REASON")
      ->take_last();
  app.add_flag("--baseline-shrink-only", arguments.shrink_only,
               "Take out of the baseline what was not found any more, and what has expired");
}

void add_options(CLI::App& app, VerifyArguments& arguments) {
  app.add_option("FILE", arguments.files,
                 "Plan files, or files that memverify import reads; - is standard input")
      ->required()
      ->type_name("");
  add_from_option(app, arguments.import);
  add_import_options(app, arguments.import);
  add_format_options(app, arguments);
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
      ->check(seconds_from(0))
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
  app.add_flag("--with-device", arguments.with_device,
               "Run the plan on host threads too, with marked bytes; a mismatch in a plan that is "
               "judged safe is an internal error");
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
      "  memverify plan.json --format github --output sarif=memverify.sarif\n"
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

/// Standard output, or a file that is written at the end.
struct ReportOutput {
  std::string path;  ///< "": standard output.
  std::unique_ptr<ReportFormat> format;
  std::string text = {};
};

/// Standard output first. Empty, after a message, if one makes no sense.
std::vector<ReportOutput> make_outputs(const VerifyArguments& given) {
  const FormatSettings settings{.files = given.files.size(), .quiet = given.quiet};
  FormatSettings on_terminal = settings;
  on_terminal.style = Style::of(given.color, stdout);
  std::vector<ReportOutput> outputs;
  outputs.push_back({.path = "", .format = find_format(given.format)->make(on_terminal)});
  for (const std::string& output : given.outputs) {
    const std::size_t equals = output.find('=');
    const std::string_view name = std::string_view(output).substr(0, equals);
    const NamedFormat* const format = find_format(name);
    if (equals == std::string::npos || equals + 1 == output.size() || format == nullptr) {
      Suggester suggester(name);
      for (const NamedFormat& known : report_formats()) suggester.consider(known.name);
      const std::string hint = format == nullptr ? suggester.hint() : "";
      usage_error("verify", "--output takes FORMAT=FILE, not " + memverify::quoted(output) + hint);
      return {};
    }
    outputs.push_back({.path = output.substr(equals + 1), .format = format->make(settings)});
  }
  return outputs;
}

/// The first file to be written that is written or read besides; "" if there is none.
std::string written_twice(const VerifyArguments& given, const std::vector<ReportOutput>& outputs) {
  const auto place = [](const std::string& path) {
    std::error_code ignored;
    const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
    return std::filesystem::weakly_canonical(whole, ignored).string();
  };
  std::vector<std::string> written = {given.certificate, given.dump};
  for (const ReportOutput& output : outputs) written.push_back(output.path);
  std::erase_if(written, [](const std::string& path) {
    return path.empty() || path == "-" || path.starts_with("/dev/");
  });
  std::map<std::string, int> uses;
  for (const std::string& path : written) ++uses[place(path)];
  for (const std::string& file : given.files) ++uses[place(file)];
  if (!given.baseline.empty()) ++uses[place(given.baseline)];
  const auto twice =
      std::ranges::find_if(written, [&](const std::string& path) { return uses[place(path)] > 1; });
  return twice == written.end() ? "" : *twice;
}

ExitCode write_outputs(std::vector<ReportOutput>& outputs, StandardOutput& standard,
                       ExitCode code) {
  const ExitCode all = code;
  for (ReportOutput& output : outputs) {
    const std::string rest = output.format->end(all);
    if (output.path.empty()) {
      standard.write(rest);
      continue;
    }
    const std::string problem = replace_file(output.path, output.text + rest);
    if (problem.empty()) continue;
    write_error("memverify: " + problem + "\n");
    code = worse(code, ExitCode::kBadInput);
  }
  return code;
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

/// The baseline of one command, if it has one.
class Ratchet {
 public:
  explicit Ratchet(const VerifyArguments& given) : given_(given), today_(today()) {}

  /// False, after a message, when the file is no baseline. It may be missing if it is to be
  /// written.
  bool load() {
    if (given_.baseline.empty()) return true;
    std::error_code ignored;
    if (!given_.accept.empty() && !std::filesystem::exists(given_.baseline, ignored)) return true;
    const Result<InputFile> file = InputFile::open(given_.baseline);
    const std::string_view text = file.ok() ? file.value().text() : "";
    Result<Baseline> read = file.ok() ? Baseline::read(text) : Result<Baseline>(file.errors());
    if (read.ok()) {
      baseline_ = std::move(read).value();
      return true;
    }
    write_error(text_errors(with_excerpts(read.errors(), text, given_.baseline),
                            Style::of(given_.color, stderr)));
    return false;
  }

  void accept(Report& report) {
    if (given_.baseline.empty() || !report.errors.empty()) return;
    baseline_.accept(report, today_);
    if (given_.accept.empty()) return;
    baseline_.add(report, given_.accept);
    baseline_.accept(report, today_);
  }

  /// Says what has gone, and writes what has changed.
  ExitCode end(ExitCode code) {
    for (const AcceptedFinding& entry : baseline_.entries()) {
      if (!baseline_.is_over(entry, today_)) continue;
      write_error(
          "memverify: the baseline's " + entry.fingerprint +
          (entry.rule.empty() ? "" : " (" + printable(entry.rule + " in " + entry.plan) + ")") +
          (Baseline::expired(entry, today_) ? " has expired" : " was not found") +
          (given_.shrink_only ? ": taken out\n" : "; --baseline-shrink-only takes it out\n"));
    }
    if (given_.shrink_only) baseline_.shrink(today_);
    if (!given_.shrink_only && given_.accept.empty()) return code;
    const std::string problem = replace_file(given_.baseline, baseline_.write());
    if (problem.empty()) return code;
    write_error("memverify: " + problem + "\n");
    return worse(code, ExitCode::kBadInput);
  }

 private:
  const VerifyArguments& given_;
  std::string today_;
  Baseline baseline_;
};

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
  if (given.baseline.empty() && (!given.accept.empty() || given.shrink_only)) {
    return usage_error("verify", "--accept and --baseline-shrink-only go with --baseline");
  }
  if (!given.accept.empty() && given.shrink_only) {
    return usage_error("verify", "--baseline-shrink-only adds nothing: leave out --accept");
  }
  std::vector<ReportOutput> outputs = make_outputs(given);
  if (outputs.empty()) return ExitCode::kBadInput;
  if (const std::string twice = written_twice(given, outputs); !twice.empty()) {
    return usage_error("verify", memverify::quoted(twice) + " would be written over");
  }
  Ratchet ratchet(given);
  if (!ratchet.load()) return ExitCode::kBadInput;
  const EngineChoice chosen = select_engines(given.engine);
  const Style error_style = Style::of(given.color, stderr);
  StandardOutput output;
  ExitCode code = ExitCode::kSafe;
  for (const std::string& file : given.files) {
    Report report = verify_file(file, chosen, given.options, given.import);
    if (given.timed && report.errors.empty()) ask_in_time(report, given.options);
    if (given.with_device && report.errors.empty()) ask_device(report);
    ratchet.accept(report);
    code = worse(code, exit_code(report));
    if (!given.dump.empty() && report.errors.empty() && !dump(report, given.dump)) {
      code = worse(code, ExitCode::kBadInput);
    }
    code = write_proof(report, given.certificate, code);
    print_errors(report, error_style);
    write_error(assumptions_text(given.import, report.imported));
    if (!report.errors.empty() && &file == &given.files.front()) write_error(command_hint(file));
    for (ReportOutput& one : outputs) {
      std::string text = one.format->add(report);
      if (one.path.empty()) {
        output.write(text);
      } else {
        one.text += text;
      }
    }
  }
  code = ratchet.end(code);
  return output.finish(write_outputs(outputs, output, code));
}

}  // namespace memverify
