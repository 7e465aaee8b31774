// `memverify simulate`: every order that a plan allows, executed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/input_file.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "sim/parts.h"
#include "sim/replay.h"
#include "tools/lanes.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/part_file.h"
#include "tools/progress.h"
#include "tools/read_witness.h"
#include "tools/refuse.h"
#include "tools/report_json.h"
#include "tools/report_text.h"
#include "tools/simulate_options.h"
#include "tools/simulated.h"
#include "tools/timed_report.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

/// The result of the parts in files. On bad ones a report has errors instead.
std::optional<EngineResult> joined(Report& report, const SimulateArguments& arguments,
                                   const SimOptions& options, SimStats& stats) {
  const std::string key = search_key(report.plan, options);
  std::vector<SimPart> parts;
  for (const std::string& path : arguments.join) {
    const auto file = InputFile::open(path);
    const std::string_view text = file.ok() ? file.value().text() : "";
    auto part = file.ok() ? read_part(text, path, key) : Result<SimPart>(file.errors());
    if (part.ok()) {
      parts.push_back(std::move(part).value());
    } else {
      report.errors = with_excerpts(part.errors(), text, path);
      return std::nullopt;
    }
  }
  auto result = join_parts(report.plan, options, parts, stats);
  if (result.ok()) return std::move(result).value();
  report.errors = with_excerpts(result.errors(), "", report.file);
  return std::nullopt;
}

Report simulated(Plan plan, const SimulateArguments& arguments, SimPart& part) {
  Report report{.file = arguments.file, .plan = std::move(plan)};
  SimOptions options = arguments.options;
  ProgressBar bar;
  options.progress = [&](const SimProgress& progress) { bar.show(progress); };
  SimStats stats;
  EngineResult result;
  if (!arguments.join.empty()) {
    auto whole = joined(report, arguments, options, stats);
    if (!whole) return report;
    result = *std::move(whole);
  } else if (!arguments.save.empty()) {
    result = simulate_part(report.plan, options, arguments.shard, part, stats);
  } else {
    result = simulate(report.plan, options, stats);
  }
  bar.clear();
  adopt_search(report, std::move(result), options, std::move(stats));
  confirm_findings(report);
  return report;
}

/// The run of the first finding that has one, or of all: as steps, and as lanes over time.
std::string runs_of(const Report& report, bool all) {
  std::string text;
  for (const Finding& finding : report.findings) {
    if (finding.witness.empty()) continue;
    std::vector<std::string> ops;
    for (OpId op : finding.ops) ops.push_back(quoted(report.plan.ops[op].name));
    text += "A run that shows " + std::string(info(finding.rule).id) +
            (ops.empty() ? "" : " of " + listed(ops)) + ":\n" +
            step_lines(report.plan, finding.witness) + "\n" +
            lane_lines(report.plan, finding.witness) + "\n";
    if (!all) break;
  }
  return text;
}

std::string report_of(const Report& report, const SimulateArguments& arguments,
                      const Style& style) {
  if (arguments.json) return json_report(report, JsonLayout::kPretty);
  if (arguments.quiet) return "memverify: " + outcome_line(report) + "\n";
  return text_findings(report, style) + runs_of(report, arguments.all) +
         text_summary(report, style);
}

/// False, with a message on standard error, when it could not be written.
bool write_file(const std::string& path, const std::string& text) {
  const std::string problem = replace_file(path, text);
  if (!problem.empty()) write_error("memverify: " + problem + "\n");
  return problem.empty();
}

bool write_witness(const Report& report, const std::string& path) {
  const auto first = std::ranges::find_if(
      report.findings, [](const Finding& finding) { return !finding.witness.empty(); });
  if (first == report.findings.end()) {
    write_error("memverify: no finding has a run: no witness was written\n");
    return true;
  }
  return write_file(path, json_finding(report.plan, *first));
}

ExitCode search(Plan plan, const SimulateArguments& arguments, StandardOutput& output) {
  SimPart part;
  const Report report = simulated(std::move(plan), arguments, part);
  if (!report.errors.empty()) return refuse(report, arguments.json, arguments.color, output);
  for (const std::string& error : report.internal_errors) {
    write_error("memverify: internal error: " + error +
                "\nThis is a bug in memverify; please report it with the plan.\n");
  }
  if (arguments.witness != "-") {
    output.write(report_of(report, arguments, Style::of(arguments.color, stdout)));
  }
  if (!arguments.save.empty() &&
      !write_file(arguments.save, write_part(part, search_key(report.plan, arguments.options)))) {
    return ExitCode::kBadInput;
  }
  if (!arguments.witness.empty() && !write_witness(report, arguments.witness)) {
    return ExitCode::kBadInput;
  }
  return exit_code(report);
}

ExitCode replay_witness(const Plan& plan, const SimulateArguments& arguments,
                        StandardOutput& output) {
  const auto file = InputFile::open(arguments.replay);
  const Result<Finding> finding =
      file.ok() ? read_witness(plan, file.value().text()) : Result<Finding>(file.errors());
  if (!finding.ok()) {
    write_error("memverify: " + printable(arguments.replay) + ": " +
                finding.errors().front().message + "\n");
    return ExitCode::kBadInput;
  }
  const ReplayResult result = replay(plan, finding.value());
  if (arguments.json) {
    output.write(replay_json(plan, arguments.file, finding.value(), result));
  } else {
    const std::string rule(info(finding.value().rule).id);
    if (!arguments.quiet) {
      output.write(step_lines(plan, finding.value().witness) + "\n" +
                   lane_lines(plan, finding.value().witness) + "\n");
    }
    output.write(result.confirmed
                     ? "memverify: the run shows " + rule + "\n"
                     : "memverify: the run does not show " + rule + ": " + result.reason + "\n");
  }
  return result.confirmed ? ExitCode::kUnsafe : ExitCode::kUnknown;
}

ExitCode run_in_time(const Plan& plan, const SimulateArguments& arguments, StandardOutput& output) {
  const TimedResult result = simulate_timed(plan, arguments.timed_options);
  output.write(arguments.json ? timed_json(plan, arguments.file, arguments.timed_options, result)
                              : timed_text(plan, arguments.timed_options, result));
  return result.failing > 0 ? ExitCode::kUnsafe : ExitCode::kUnknown;
}

}  // namespace

ExitCode simulate_command(const Arguments& given) {
  SimulateArguments arguments;
  if (const auto code = parse_simulate(given, arguments)) return *code;
  StandardOutput output;
  Loaded loaded = load_plan(arguments.file, cannot_be_verified);
  if (!loaded.plan) {
    return refuse({.file = arguments.file, .errors = std::move(loaded.errors)}, arguments.json,
                  arguments.color, output);
  }
  if (const std::string problem = settle(*loaded.plan, arguments); !problem.empty()) {
    return usage_error("simulate", problem);
  }
  if (!arguments.replay.empty()) {
    return output.finish(replay_witness(*loaded.plan, arguments, output));
  }
  if (arguments.timed) return output.finish(run_in_time(*loaded.plan, arguments, output));
  return output.finish(search(std::move(*loaded.plan), arguments, output));
}

}  // namespace memverify
