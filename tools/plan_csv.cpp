#include "tools/plan_csv.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "plan/input_file.h"
#include "plan/suggest.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "planner/csv.h"
#include "tools/diagnostics.h"
#include "tools/parse.h"
#include "tools/plan_report.h"

namespace memverify {
namespace {

ExitCode csv_refused(std::vector<Diagnostic> errors, std::string_view text,
                     const std::string& name) {
  write_error(text_errors(with_excerpts(std::move(errors), text, name),
                          Style::of(ColorMode::kAuto, stderr)));
  return ExitCode::kBadInput;
}

std::string with_format(const char* format, double value) {
  std::array<char, 64> text = {};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string csv_report_line(const Problem& problem, const Placement& placement,
                            std::string_view strategy, double seconds) {
  const std::int64_t sum = std::accumulate(
      problem.buffers.begin(), problem.buffers.end(), std::int64_t{0},
      [](std::int64_t total, const Buffer& buffer) { return total + buffer.bytes; });
  const double peak = static_cast<double>(placement.peak);
  const double bound = static_cast<double>(problem.lower_bound);
  std::string line = "peak " + std::to_string(placement.peak) + " bytes, bound " +
                     std::to_string(problem.lower_bound);
  line += ", gap " + with_format("%.2f %%", bound == 0 ? 0 : (peak / bound - 1) * 100);
  line += ", reuse " + with_format("%.4f", sum == 0 ? 0 : 1 - peak / static_cast<double>(sum));
  line += ", " + std::string(strategy);
  line += placement.is_optimal || placement.peak == problem.lower_bound ? ", optimal"
                                                                        : ", not proven optimal";
  line += ", " + std::to_string(placement.nodes) + " nodes, " + with_format("%.2f s", seconds);
  if (placement.allocator) line += "\n" + allocator_text(*placement.allocator);
  return line;
}

}  // namespace

ExitCode plan_csv(const std::string& path, const PlanCsvOptions& options) {
  const Strategy* strategy = find_strategy(options.strategy);
  if (strategy == nullptr) {
    Suggester suggester(options.strategy);
    for (const Strategy& known : strategies()) suggester.consider(known.name);
    return usage_error(
        "plan", "there is no strategy " + memverify::quoted(options.strategy) + suggester.hint());
  }
  const std::string name = path == "-" ? "<stdin>" : path;
  const Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return csv_refused(file.errors(), "", name);
  Result<CsvProblem> read = read_csv(file.value().text(), name);
  if (!read.ok()) return csv_refused(read.errors(), file.value().text(), name);
  CsvProblem& csv = read.value();
  csv.problem.capacity = options.capacity;
  csv.problem.capacity_is_enough = true;  // A packing problem asks whether it fits.
  if (const std::string fault = fault_of_fixed(csv.problem); !fault.empty()) {
    write_error("memverify plan: " + printable(name) + ": fixed offsets clash: " + fault + "\n");
    return ExitCode::kBadInput;
  }
  const auto start = std::chrono::steady_clock::now();
  const Placement placement = strategy->place(csv.problem, options.search);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (const std::string fault = fault_of(csv.problem, placement); !fault.empty()) {
    write_error("memverify plan: internal error: " + options.strategy + ": " + fault + "\n");
    return ExitCode::kInternal;
  }
  const std::string line = printable(name) + ": " +
                           csv_report_line(csv.problem, placement, strategy->name, taken.count()) +
                           "\n";
  if (options.capacity && placement.peak > *options.capacity) {
    const bool is_proven = csv.problem.lower_bound > *options.capacity || placement.is_optimal;
    write_error(
        line + "memverify plan: " + std::to_string(placement.peak - *options.capacity) +
        " bytes are missing: " + (is_proven ? "nothing fits in " : "found nothing that fits in ") +
        std::to_string(*options.capacity) + "\n");
    return ExitCode::kUnsafe;
  }
  const std::string text = write_csv(csv, placement);
  StandardOutput output;
  if (options.output == "-") {
    write_error(line);
    output.write(text);
    return output.finish(ExitCode::kSafe);
  }
  if (!options.output.empty()) {
    if (const std::string problem = replace_file(options.output, text); !problem.empty()) {
      write_error("memverify plan: " + problem + "\n");
      return ExitCode::kBadInput;
    }
  }
  output.write(line);
  return output.finish(ExitCode::kSafe);
}

}  // namespace memverify
