// tools/parse.h -- what the subcommands share on the command line. The one owner of CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command.h"
#include "tools/console.h"

namespace memverify {

/// Parses into the options bound to `app`. The exit code when that is the end of it: kSafe after
/// help or the option table, kBadInput after a usage error, which is then on standard error with
/// the nearest option. CLI11's own exit codes are never seen.
std::optional<ExitCode> parse(CLI::App& app, const Arguments& arguments);

/// Accepts these words only; says which is near to a wrong one.
CLI::Validator one_of(std::vector<std::string> words);

/// Accepts anything; the option table names these words, for completions.
CLI::Validator words_such_as(const std::vector<std::string>& words);

/// Accepts whole numbers from `least` to `most`, in decimal digits.
CLI::Validator whole_from(std::int64_t least,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// Accepts numbers of seconds from `least` >= 0 to a milliard.
CLI::Validator seconds_from(double least);

/// Reads "K/N" with 1 <= K <= N; "" or what is wrong with it.
std::string parse_shard(std::string_view text, std::uint64_t& k, std::uint64_t& n);

/// Adds `--color auto|always|never`.
void add_color_option(CLI::App& app, ColorMode& mode);

/// Adds `--format text|json`.
void add_format_option(CLI::App& app, bool& json);

/// Adds `--max-findings N`, N >= 1.
void add_max_findings_option(CLI::App& app, std::size_t& count);

/// Says what is wrong with the command line, on standard error.
ExitCode usage_error(std::string_view command, const std::string& message);

}  // namespace memverify
