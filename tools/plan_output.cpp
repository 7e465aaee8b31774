#include "tools/plan_output.h"

#include <utility>

#include "plan/words.h"
#include "tools/diagnostics.h"
#include "tools/plan_advice.h"
#include "tools/plan_report.h"
#include "tools/report_json.h"
#include "tools/report_text.h"

namespace memverify {

void print_report(const PlanOptions& options, std::string_view text) {
  if (options.output == "-") return write_error(text);
  StandardOutput output;
  output.write(text);
  output.finish(ExitCode::kSafe);
}

ExitCode refuse_input(const PlanOptions& options, std::vector<InputError> errors) {
  const Report report{.file = options.file, .errors = std::move(errors)};
  write_error(text_errors(report.errors, Style::of(options.color, stderr)));
  if (options.json) print_report(options, json_report(report, JsonLayout::kPretty));
  return ExitCode::kBadInput;
}

ExitCode refuse_errors(const PlanOptions& options, std::vector<Diagnostic> errors) {
  return refuse_input(options, with_excerpts(std::move(errors), "", options.file));
}

ExitCode refuse_graph(const PlanOptions& options, const Report& report) {
  const bool is_unsafe = report.verdict == Verdict::kUnsafe;
  const std::string text = text_findings(report, Style::of(options.color, stderr));
  const auto pools = static_cast<std::uint32_t>(report.plan.pools.size());
  const std::string scratch = quoted(report.plan.pools[PoolId{pools - 1}].name);
  write_error(text + "memverify plan: " +
              (is_unsafe ? "the graph is unsafe wherever its tensors lie"
                         : "the graph is not proven safe, wherever its tensors lie") +
              "; nothing was written\n");
  if (text.find(scratch) != std::string::npos) {
    write_error("Pool " + scratch +
                " is none of the graph: there, each tensor has its own bytes.\n");
  }
  if (options.json) print_report(options, json_report(report, JsonLayout::kPretty));
  return is_unsafe ? ExitCode::kBadInput : ExitCode::kUnknown;
}

ExitCode refuse_size(const PlanOptions& options, const Plan& graph, const PlanGraphOptions& how,
                     const PlannedGraph& planned, const Allowance& allowance, std::string note) {
  const AdviceFound advice =
      find_advice(options.file, graph, how, planned, allowance, !options.is_imported);
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
  if (options.json) print_report(options, json_report(report, JsonLayout::kPretty));
  return ExitCode::kInternal;
}

}  // namespace memverify
