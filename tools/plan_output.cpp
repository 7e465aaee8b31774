#include "tools/plan_output.h"

#include <utility>

#include "tools/diagnostics.h"
#include "tools/plan_advice.h"
#include "tools/plan_report.h"
#include "tools/report_text.h"

namespace memverify {

void print_report(const PlanOptions& options, std::string_view text) {
  if (options.output == "-") return write_error(text);
  StandardOutput output;
  output.write(text);
  output.finish(ExitCode::kSafe);
}

ExitCode refuse_errors(const PlanOptions& options, std::vector<Diagnostic> errors) {
  write_error(text_errors(with_excerpts(std::move(errors), "", options.file),
                          Style::of(options.color, stderr)));
  return ExitCode::kBadInput;
}

/// The graph is at fault, wherever its tensors lie.
ExitCode refuse_graph(const PlanOptions& options, const Report& report) {
  const Style style = Style::of(options.color, stderr);
  write_error(text_findings(report, style) + "memverify plan: the graph is " +
              std::string(name(report.verdict)) +
              (report.verdict == Verdict::kUnsafe ? " wherever its tensors lie" : "") +
              "; nothing was written\n");
  return report.verdict == Verdict::kUnsafe ? ExitCode::kBadInput : ExitCode::kUnknown;
}

ExitCode refuse_size(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how,
                     const PlannedGraph& planned, std::string note) {
  const AdviceFound advice = find_advice(options.file, graph, how, planned);
  const PlanReport made{.strategy = options.strategy->name,
                        .graph = &graph,
                        .planned = &planned,
                        .advice = &advice,
                        .note = std::move(note)};
  write_error(too_small_text(made, Style::of(options.color, stderr)) +
              "memverify plan: nothing was written\n");
  if (options.json) print_report(options, plan_json(made));
  return ExitCode::kUnsafe;
}

void warn_unsafe(const PlanOptions& options, const Report& report) {
  const Style style = Style::of(options.color, stderr);
  write_error(text_findings(report, style) + style.warning("warning") + ": the plan is " +
              std::string(name(report.verdict)) + ", and written because of --allow-unsafe\n");
}

ExitCode refuse_unproven(const PlanOptions& options, const Report& report) {
  write_error(text_report(report, Style::of(options.color, stderr)) +
              "memverify plan: internal error: the plan is not proven safe; nothing was "
              "written\nPlease report this with the graph.\n");
  return ExitCode::kInternal;
}

}  // namespace memverify
