// tools/option_table.h -- what a command takes, for programs: shell completions, the manual.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace memverify {

/// A hidden argument of every command, and of `memverify` itself: prints its table.
inline constexpr const char* kOptionTable = "--option-table";

/// One JSON object and a newline: the command, what it does, its arguments and options with their
/// names, kinds of values ("N", "text|json", "" for none), the words that a value may be, and help.
std::string option_table(CLI::App& app);

}  // namespace memverify
