// `memverify device`: a plan's commands on real queues.
#include <sys/sysinfo.h>

#include <stdexcept>
#include <utility>

#include "cuda_check/threads_device.h"
#include "plan/input_file.h"
#include "plan/words.h"
#include "tools/device_options.h"
#include "tools/device_report.h"
#include "tools/given_values.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/read_witness.h"
#include "tools/refuse.h"
#include "tools/report_json.h"
#include "tools/report_text.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

device::MakeDevice maker(const DeviceArguments& arguments) {
  if (arguments.on_gpu) {
    const device::Launch launch = arguments.launch;
    return [launch](const device::Job& job) { return device::make_cuda_device(job, launch); };
  }
  const unsigned workers = arguments.workers;
  return [workers](const device::Job& job) { return device::make_threads_device(job, workers); };
}

std::int64_t free_bytes(const DeviceArguments& arguments) {
  if (arguments.on_gpu) return device::cuda_free_bytes();
  struct sysinfo machine = {};
  if (sysinfo(&machine) != 0) return 0;
  return static_cast<std::int64_t>(machine.freeram + machine.bufferram) *
         static_cast<std::int64_t>(machine.mem_unit);
}

ExitCode refuse_file(const DeviceArguments& arguments, const std::string& message) {
  write_error("memverify device: " + printable(arguments.file) + ": " + message + "\n");
  return ExitCode::kBadInput;
}

/// "" or why the plan does not fit.
std::string does_not_fit(const Plan& plan, const DeviceArguments& arguments) {
  const Result<std::int64_t> needed = device::bytes_needed(plan, arguments.options);
  if (!needed.ok()) return needed.errors().front().message;
  const std::int64_t free = free_bytes(arguments);
  if (needed.value() <= free) return "";
  return "needs " + counted(needed.value(), "byte") + " of memory, " + std::to_string(free) +
         " are free; --scale bytes=N shrinks it";
}

Result<device::CheckResult> run_as_asked(const Plan& plan, const DeviceArguments& arguments) {
  if (arguments.witness.empty()) return device::check(plan, arguments.options);
  const auto file = InputFile::open(arguments.witness);
  if (!file.ok()) {
    std::vector<Diagnostic> errors = file.errors();
    for (Diagnostic& error : errors)
      error.message = "the witness " + memverify::quoted(arguments.witness) + ": " + error.message;
    return errors;
  }
  const Result<Finding> witness = read_witness(plan, file.value().text());
  if (!witness.ok()) return witness.errors();
  return device::check_witness(plan, witness.value(), arguments.options);
}

/// What the device itself refuses is no bug either: too little memory, a plan that is no graph.
Result<device::CheckResult> run_on_device(const Plan& plan, const DeviceArguments& arguments) {
  try {
    return run_as_asked(plan, arguments);
  } catch (const std::runtime_error& error) {
    return Diagnostic{.id = "device.failed", .message = error.what()};
  }
}

ExitCode run_plan(const Plan& plan, DeviceArguments& arguments, StandardOutput& output) {
  std::string problem = read_symbols(plan, arguments.symbols, arguments.options.symbols);
  if (problem.empty()) problem = read_conditions(plan, arguments.when, arguments.options.when);
  if (!problem.empty()) return usage_error("device", problem);
  if (arguments.check_fit) problem = does_not_fit(plan, arguments);
  if (!problem.empty()) return refuse_file(arguments, problem);
  arguments.options.make = maker(arguments);
  const Result<device::CheckResult> result = run_on_device(plan, arguments);
  if (!result.ok()) return refuse_file(arguments, result.errors().front().message);
  output.write(arguments.json ? device_json(plan, arguments, result.value())
                              : device_text(plan, arguments, result.value(),
                                            Style::of(arguments.color, stdout)));
  return result.value().shown.empty() ? ExitCode::kSafe : ExitCode::kUnsafe;
}

}  // namespace

ExitCode device_command(const Arguments& given) {
  DeviceArguments arguments;
  if (const auto code = parse_device(given, arguments)) return *code;
  if (arguments.on_gpu) {
    const std::string problem = device::cuda_problem();
    if (!problem.empty()) {
      write_error("memverify device: no GPU can be used: " + problem +
                  "; --device threads runs everywhere\n");
      return ExitCode::kBadInput;
    }
  }
  StandardOutput output;
  Loaded loaded = load_plan(arguments.file, cannot_be_verified);
  if (!loaded.plan) {
    return refuse({.file = arguments.file, .errors = std::move(loaded.errors)}, arguments.json,
                  arguments.color, output);
  }
  return output.finish(run_plan(*loaded.plan, arguments, output));
}

}  // namespace memverify
