#include "tools/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>

#include "plan/suggest.h"
#include "plan/words.h"
#include "tools/option_table.h"
#include "tools/whole_number.h"

namespace memverify {
namespace {

constexpr double kMostSeconds = 1e9;

/// CLI11 leaves what it does not know in `remaining`: the first thing that looks like an option is
/// what the user got wrong.
std::string unknown_argument(const CLI::App& app, const Arguments& remaining) {
  const auto option = std::ranges::find_if(
      remaining, [](const std::string& text) { return text.size() > 1 && text[0] == '-'; });
  if (option == remaining.end())
    return "unexpected argument " + memverify::quoted(remaining.front());
  const std::string name = option->substr(0, option->find('='));
  Suggester suggester(name);
  std::vector<std::string> known;
  for (const CLI::Option* candidate : app.get_options()) {
    for (const std::string& text : candidate->get_lnames()) known.push_back("--" + text);
  }
  for (const std::string& candidate : known) suggester.consider(candidate);
  return "unknown option " + memverify::quoted(name) + suggester.hint();
}

}  // namespace

ExitCode usage_error(std::string_view command, const std::string& message) {
  std::string name = "memverify";
  if (!command.empty()) name += " " + std::string(command);
  write_error("memverify: " + message + "\nTry `" + name + " --help`.\n");
  return ExitCode::kBadInput;
}

std::optional<ExitCode> parse(CLI::App& app, const Arguments& arguments) {
  app.allow_extras();
  if (arguments.size() == 1 && arguments.front() == kOptionTable) {
    StandardOutput output;
    output.write(option_table(app));
    return output.finish(ExitCode::kSafe);
  }
  const std::string& name = app.get_name();
  const std::string command = name.substr(std::min(name.size(), name.find(' ') + 1));
  try {
    app.parse(Arguments(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    StandardOutput output;
    output.write(app.help());
    return output.finish(ExitCode::kSafe);
  } catch (const CLI::ParseError& error) {
    const Arguments remaining = app.remaining();
    return usage_error(
        command, remaining.empty() ? printable(error.what()) : unknown_argument(app, remaining));
  }
  if (const Arguments remaining = app.remaining(); !remaining.empty()) {
    return usage_error(command, unknown_argument(app, remaining));
  }
  return std::nullopt;
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string name = CLI::detail::join(words, "|");
  const auto check = [words = std::move(words)](const std::string& text) {
    if (std::ranges::count(words, text) > 0) return std::string();
    Suggester suggester(text);
    std::vector<std::string> quoted_words;
    for (const std::string& word : words) {
      suggester.consider(word);
      quoted_words.push_back(memverify::quoted(word));
    }
    return memverify::quoted(text) + " is not " + listed(quoted_words, "or") + suggester.hint();
  };
  return CLI::Validator(check, "", name);
}

CLI::Validator words_such_as(const std::vector<std::string>& words) {
  const auto check = [](const std::string&) { return std::string(); };
  return CLI::Validator(check, "", CLI::detail::join(words, "|"));
}

CLI::Validator whole_from(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) {
    const std::optional<std::int64_t> value = whole_number(text);
    const bool is_plain = value && std::to_string(*value) == text;  // CLI11 would read 010 as 8.
    if (!is_plain || *value < least || *value > most) {
      return memverify::quoted(text) + " is not a whole number from " + std::to_string(least) +
             " to " + std::to_string(most);
    }
    return std::string();
  };
  return CLI::Validator(check, "");
}

std::string parse_shard(std::string_view text, std::uint64_t& k, std::uint64_t& n) {
  const std::size_t slash = text.find('/');
  const auto number = [](std::string_view digits, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    return error == std::errc() && end == digits.end();
  };
  const bool reads = slash != std::string_view::npos && number(text.substr(0, slash), k) &&
                     number(text.substr(slash + 1), n);
  if (reads && k >= 1 && k <= n) return "";
  return memverify::quoted(text) + " is no shard K/N with 1 <= K <= N";
}

CLI::Validator seconds_from(double least) {
  const auto check = [least](const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool is_good =
        error == std::errc() && stop == end && value >= least && value <= kMostSeconds;
    if (is_good) return std::string();
    const auto shown = [](double number) {
      std::array<char, 32> digits = {};
      std::snprintf(digits.data(), digits.size(), "%.10g", number);
      return std::string(digits.data());
    };
    return memverify::quoted(text) + " is not a number of seconds from " + shown(least) + " to " +
           shown(kMostSeconds);
  };
  return CLI::Validator(check, "");
}

void add_color_option(CLI::App& app, ColorMode& mode) {
  static const std::map<std::string, ColorMode> modes = {
      {"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}};
  app.add_option_function<std::string>(
         "--color", [&mode](const std::string& text) { mode = modes.at(text); },
         "Colours; auto: on a terminal, unless NO_COLOR is set")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("auto|always|never")
      ->take_last();
}

void add_format_option(CLI::App& app, bool& json) {
  app.add_option_function<std::string>(
         "--format", [&json](const std::string& text) { json = text == "json"; },
         "text for people, json for programs")
      ->check(one_of({"text", "json"}))
      ->type_name("text|json")
      ->take_last();
}

void add_max_findings_option(CLI::App& app, std::size_t& count) {
  app.add_option("--max-findings", count, "Stop after this many findings")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000}))
      ->type_name("N")
      ->capture_default_str()
      ->take_last();
}

}  // namespace memverify
