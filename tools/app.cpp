// The command line as a whole: which subcommand, and what is left for it.
#include <algorithm>
#include <array>
#include <exception>
#include <new>

#include "plan/json_text.h"
#include "plan/version.h"
#include "planner/strategy.h"
#include "tools/command.h"
#include "tools/console.h"
#include "tools/engines.h"
#include "tools/importers.h"
#include "tools/option_table.h"
#include "tools/parse.h"
#include "tools/report_format.h"

namespace memverify {
namespace {

constexpr std::string_view kVersion = "memverify " MEMVERIFY_VERSION "\n";

std::string usage() {
  std::string out =
      "memverify proves that a memory plan is safe, or shows a run in which it is not.\n"
      "\n"
      "Usage: memverify [OPTIONS] FILE…         the same as memverify verify [OPTIONS] FILE…\n"
      "       memverify COMMAND [OPTIONS] …\n"
      "\n"
      "Commands:\n";
  for (const Command& command : commands()) {
    std::string name(command.name);
    name.resize(19, ' ');
    out += "  " + name + std::string(command.help) + "\n";
  }
  out +=
      "\n"
      "  --help, -h      This text; after a command, what the command takes\n"
      "  --version       The version; with --json, what there is in it, for programs\n"
      "\n"
      "Exit code: 0 safe, 1 unsafe, 2 bad input or usage, 3 not proven, 4 internal error.\n"
      "\n"
      "Examples:\n"
      "  memverify plan.json                   is it safe?\n"
      "  memverify plan.json --format json     the same for programs\n"
      "  memverify explain MV101               what a finding means and how to mend it\n"
      "  memverify show plan.json              what is in a plan, as text\n"
      "A file that is named like a command needs a path: ./verify\n";
  return out;
}

/// `--version --json`: what the command can, for programs that call it.
std::string version_json() {
  JsonText json;
  const auto add_names = [&json](std::string_view key, const auto& table) {
    json.key(key);
    json.open('[');
    for (const auto& row : table) {
      json.next();
      json.value(row.name);
    }
    json.close(']');
  };
  json.open('{');
  json.field("memverify", std::int64_t{1});
  json.field("version", std::string_view(MEMVERIFY_VERSION));
  add_names("commands", commands());
  add_names("engines", engines());
  add_names("strategies", strategies());
  add_names("importers", importers());
  add_names("formats", report_formats());
  json.close('}');
  return json.take() + "\n";
}

/// The rows of the table of commands, an object each.
std::string command_table() {
  JsonText json;
  json.open('{');
  json.key("commands");
  json.open_lines();
  for (const Command& command : commands()) {
    json.next();
    json.open('{');
    json.field("command", command.name);
    json.field("help", command.help);
    json.close('}');
  }
  json.close_lines();
  json.close('}');
  return json.take() + "\n";
}

ExitCode print(std::string_view text) {
  StandardOutput output;
  output.write(text);
  return output.finish(ExitCode::kSafe);
}

ExitCode print_version(const Arguments& arguments) {
  if (arguments.size() == 1) return print(kVersion);
  if (arguments.size() == 2 && arguments[1] == "--json") return print(version_json());
  return usage_error("", "--version goes with --json or alone");
}

ExitCode dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    write_error(usage());
    return ExitCode::kBadInput;
  }
  const std::string& first = arguments.front();
  if (first == "help" && arguments.size() > 1) {
    const auto about = std::ranges::find(commands(), arguments[1], &Command::name);
    if (about != commands().end()) return about->run({"--help"});
  }
  if (first == "--help" || first == "-h" || first == "help") return print(usage());
  if (first == "--version") return print_version(arguments);
  if (first == kOptionTable) return print(command_table());
  const auto command = std::ranges::find(commands(), first, &Command::name);
  if (command == commands().end()) return verify_command(arguments);
  return command->run(Arguments(arguments.begin() + 1, arguments.end()));
}

}  // namespace

std::span<const Command> commands() {
  static constexpr std::array kCommands = {
      Command{.name = "verify", .help = "Decide whether plans are safe", .run = verify_command},
      Command{.name = "simulate",
              .help = "Execute every order that a plan allows",
              .run = simulate_command},
      Command{.name = "explain",
              .help = "Say what a rule means, or why bytes of a plan are held",
              .run = explain_command},
      Command{.name = "repair",
              .help = "Offer ways to make a plan safe, or smaller",
              .run = repair_command},
      Command{.name = "show", .help = "Print what is in a plan", .run = show_command},
      Command{.name = "report", .help = "Draw a plan: memory, queues, runs", .run = report_command},
      Command{
          .name = "import", .help = "Make a plan from another tool's file", .run = import_command},
      Command{.name = "plan", .help = "Place the tensors of a graph", .run = plan_command},
      Command{.name = "tradeoff",
              .help = "Print bytes against added waits of a graph",
              .run = tradeoff_command},
      Command{.name = "audit",
              .help = "Say which syncs a safe plan needs, and which could go",
              .run = audit_command},
      Command{.name = "check-certificate",
              .help = "Check the proof of a verdict",
              .run = check_certificate_command},
      Command{.name = "device",
              .help = "Run a plan on real queues with marked bytes",
              .run = device_command},
      Command{
          .name = "fuzz", .help = "Look for graphs that a planner gets wrong", .run = fuzz_command},
  };
  return kCommands;
}

ExitCode run_app(const Arguments& arguments) {
  try {
    return dispatch(arguments);
  } catch (const std::bad_alloc&) {
    write_error("memverify: out of memory\n");
  } catch (const std::exception& error) {
    write_error("memverify: internal error: " + std::string(error.what()) +
                "\nPlease report this with the plan.\n");
  }
  return ExitCode::kInternal;
}

}  // namespace memverify
