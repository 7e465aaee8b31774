// tools/command.h -- the table of subcommands.
//
// A subcommand is one file with one function, and one row in the table of app.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/exit_code.h"

namespace memverify {

using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view help;                    ///< One line.
  ExitCode (*run)(const Arguments& after);  ///< What follows the name on the command line.
};

std::span<const Command> commands();

/// Runs `memverify ARGUMENTS…`. Prints; never exits.
ExitCode run_app(const Arguments& arguments);

ExitCode verify_command(const Arguments& arguments);
ExitCode simulate_command(const Arguments& arguments);
ExitCode explain_command(const Arguments& arguments);
ExitCode show_command(const Arguments& arguments);
ExitCode import_command(const Arguments& arguments);
ExitCode plan_command(const Arguments& arguments);
ExitCode repair_command(const Arguments& arguments);
ExitCode tradeoff_command(const Arguments& arguments);
ExitCode audit_command(const Arguments& arguments);
ExitCode fuzz_command(const Arguments& arguments);
ExitCode check_certificate_command(const Arguments& arguments);
ExitCode device_command(const Arguments& arguments);
ExitCode report_command(const Arguments& arguments);

}  // namespace memverify
