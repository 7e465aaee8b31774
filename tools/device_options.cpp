#include "tools/device_options.h"

#include <cstdint>
#include <string_view>

#include "plan/words.h"
#include "tools/parse.h"
#include "tools/whole_number.h"

namespace memverify {
namespace {

/// "bytes=N" or "N", N >= 1.
std::optional<std::int64_t> parse_scale(std::string_view text) {
  if (text.starts_with("bytes=")) text.remove_prefix(6);
  const std::optional<std::int64_t> bytes = whole_number(text);
  return bytes && *bytes >= 1 ? bytes : std::nullopt;
}

void add_run_options(CLI::App& app, DeviceArguments& arguments) {
  device::CheckOptions& options = arguments.options;
  app.add_option("--runs", options.runs, "How often the plan runs")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of all delays; the same seed draws the same ones")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 62))
      ->type_name("S")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--delays",
         [&](const std::string& text) { options.delays = *device::parse_delay_kind(text); },
         "How commands hold still: uniform (each its own time), per-queue (slow and fast queues), "
         "adversarial (one command stays open as long as anything else can go on, each in turn)")
      ->check(one_of({"uniform", "per-queue", "adversarial"}))
      ->type_name("uniform|per-queue|adversarial")
      ->default_str("uniform")
      ->take_last();
  app.add_option_function<double>(
         "--delay-us", [&](double longest) { options.longest = device::Microseconds(longest); },
         "The longest delay, in microseconds")
      ->check(CLI::Range(0.0, 1e7))
      ->type_name("US")
      ->default_str("50");
  app.add_option_function<double>(
         "--timeout",
         [&](double seconds) {
           options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
         },
         "Give a run up when nothing has happened for so long; threads notice it at once")
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("S")
      ->default_str("5");
  app.add_option("--witness", arguments.witness,
                 "Follow the run in this file, as verify and simulate write them, in every run")
      ->type_name("FILE");
}

void add_case_options(CLI::App& app, DeviceArguments& arguments) {
  device::CheckOptions& options = arguments.options;
  app.add_option_function<std::int64_t>(
         "--iterations", [&](std::int64_t count) { options.iterations = count; },
         "Run so many iterations (as many as the plan says; an unbounded one some)")
      ->check(CLI::Range(std::int64_t{1}, device::kMaxCommands))
      ->type_name("N");
  app.add_option("--symbol", arguments.symbols,
                 "The value of a symbol (its greatest; its least, if it has no max)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--when", arguments.when, "The value of a condition (drawn anew for each run)")
      ->type_name("NAME=true|false")
      ->allow_extra_args(false);
  app.add_option_function<std::string>(
         "--scale", [&](const std::string& text) { options.scale_bytes = parse_scale(text); },
         "Shrink the plan to about so many bytes of memory; what overlaps stays the same")
      ->check(CLI::Validator(
          [](std::string& text) {
            return parse_scale(text)
                       ? ""
                       : memverify::quoted(text) + " is no size such as bytes=1048576";
          },
          ""))
      ->type_name("bytes=N");
  app.add_flag("--check-fit", arguments.check_fit,
               "Compare what the plan needs with the free memory first");
}

}  // namespace

std::optional<ExitCode> parse_device(const Arguments& given, DeviceArguments& arguments) {
  CLI::App app(
      "Runs a plan's commands on real queues with marked bytes, and looks whether every reader "
      "finds what it should.",
      "memverify device");
  app.add_option("FILE", arguments.file, "A plan file; - is standard input")
      ->required()
      ->type_name("");
  app.add_option_function<std::string>(
         "--device", [&](const std::string& text) { arguments.on_gpu = text == "cuda"; },
         "Where: threads (of this machine), cuda (a GPU)")
      ->check(one_of({"threads", "cuda"}))
      ->type_name("threads|cuda")
      ->default_str("threads")
      ->take_last();
  app.add_option_function<std::string>(
         "--launch",
         [&](const std::string& text) {
           arguments.launch = text == "graph" ? device::Launch::kGraph : device::Launch::kStreams;
         },
         "On a GPU: call by call (streams), or as a CUDA graph (graph)")
      ->check(one_of({"streams", "graph"}))
      ->type_name("streams|graph")
      ->default_str("streams")
      ->take_last();
  app.add_option("--workers", arguments.workers, "Threads that carry out the queues' work")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N")
      ->capture_default_str();
  add_run_options(app, arguments);
  add_case_options(app, arguments);
  add_format_option(app, arguments.json);
  add_color_option(app, arguments.color);
  app.add_flag("--quiet,-q", arguments.quiet, "Only the last line");
  app.footer(
      "Exit code: 0 every run was clean (evidence, not proof), 1 a mismatch was seen, 2 bad "
      "input,\n"
      "usage, or no such device, 4 internal error.\n"
      "\n"
      "Examples:\n"
      "  memverify device plan.json --runs 1000 --delays adversarial\n"
      "  memverify device plan.json --witness run.json --runs 100\n"
      "  memverify device plan.json --device cuda --launch graph");
  if (const auto code = parse(app, given)) return *code;
  if (arguments.file == "-" && arguments.witness == "-") {
    return usage_error("device", "standard input (-) can be read only once");
  }
  return std::nullopt;
}

}  // namespace memverify
