// `memverify repair`: the cheapest ways to safety, or to a smaller peak.
#include <string>

#include "plan/input_file.h"
#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/command.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/planning.h"
#include "tools/repair_offers.h"
#include "tools/report_text.h"
#include "tools/verify_file.h"

namespace memverify {
namespace {

struct RepairCommand {
  std::string file;
  std::string output;
  std::int64_t apply = 0;  ///< 0: none.
  bool json = false;
  ColorMode color = ColorMode::kAuto;
  OfferOptions offers;
};

ExitCode code_of(const RepairOffers& found) {
  const bool is_broken = !found.report.internal_errors.empty();
  return is_broken ? ExitCode::kInternal : exit_code(found.report.verdict);
}

/// "" if it cannot be read.
std::string file_text(const std::string& file) {
  const Result<InputFile> input = InputFile::open(file);
  return input.ok() ? std::string(input.value().text()) : "";
}

/// Reads back what will be written, and has that decided once more.
ExitCode write_offer(const RepairCommand& command, const Offer& offer) {
  const std::string text = write_plan(offer.repair.plan);
  Result<Plan> plan = read_plan(text, command.output);
  const Report report =
      plan.ok() ? decide_planned(command.output, std::move(plan).value()) : Report{};
  if (report.verdict != Verdict::kSafe || !report.internal_errors.empty()) {
    write_error(text_report(report, Style::of(command.color, stderr)) +
                "memverify repair: internal error: the plan is not proven safe; nothing was "
                "written\nPlease report this with the plan.\n");
    return ExitCode::kInternal;
  }
  if (const std::string problem = replace_file(command.output, text); !problem.empty()) {
    write_error("memverify repair: " + problem + "\n");
    return ExitCode::kBadInput;
  }
  write_error("memverify: safe, written to " + command.output + "\n");
  return ExitCode::kSafe;
}

}  // namespace

ExitCode repair_command(const Arguments& arguments) {
  RepairCommand command;
  CLI::App app(
      "Offers the cheapest ways to make an unsafe plan safe, or a safe one smaller, with their "
      "prices.",
      "memverify repair");
  app.add_option("FILE", command.file, "Plan file; - is standard input")->required()->type_name("");
  CLI::Option* apply = app.add_option("--apply", command.apply, "Write the plan of offer K")
                           ->check(whole_from(1))
                           ->type_name("K");
  CLI::Option* output =
      app.add_option("-o,--output", command.output, "Where it goes; - is standard output")
          ->type_name("FILE")
          ->needs(apply);
  apply->needs(output);
  app.add_option("--most", command.offers.most_of_a_kind, "Offers of each kind")
      ->check(whole_from(1, 8))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seconds", command.offers.seconds,
                 "Of a safe plan: time to look for smaller peaks, about")
      ->check(seconds_from(0))
      ->type_name("S")
      ->capture_default_str();
  add_format_option(app, command.json);
  add_color_option(app, command.color);
  app.footer(
      "Kinds: wait (one more `after`), move (other addresses), order (an op submitted earlier or\n"
      "later), copy (a reader gets a copy of what it reads). Prices: peak bytes, added waits,\n"
      "copied bytes, makespan by the greatest durations. Whatever is offered was decided to be\n"
      "safe, and so is what is written.\n"
      "Exit code: 0 the plan is safe, or what --apply wrote is, 1 it is unsafe, whatever is "
      "offered,\n"
      "2 bad input or usage, 3 not proven.\n"
      "\n"
      "Examples:\n"
      "  memverify repair plan.json\n"
      "  memverify repair plan.json --apply 1 -o fixed.json");
  if (const auto code = parse(app, arguments)) return *code;
  Loaded loaded = load_plan(command.file, cannot_be_verified);
  if (!loaded.plan) {
    write_error(text_errors(loaded.errors, Style::of(command.color, stderr)));
    return ExitCode::kBadInput;
  }
  const bool is_patchable = command.json && command.file != "-" && !loaded.is_imported;
  const std::string patchable = is_patchable ? file_text(command.file) : "";
  const RepairOffers found = find_repairs(command.file, *std::move(loaded.plan), command.offers);
  if (command.apply > static_cast<std::int64_t>(found.offers.size())) {
    return usage_error(
        "repair",
        "--apply " + std::to_string(command.apply) + ": there " +
            (found.offers.size() == 1 ? "is 1 offer"
                                      : "are " + std::to_string(found.offers.size()) + " offers"));
  }
  StandardOutput out;
  if (command.output == "-") {
    return write_offer(command, found.offers[static_cast<std::size_t>(command.apply - 1)]);
  }
  out.write(command.json ? repair_json(found, patchable)
                         : repair_text(found, Style::of(command.color, stdout)));
  if (command.apply == 0) return out.finish(code_of(found));
  return out.finish(
      write_offer(command, found.offers[static_cast<std::size_t>(command.apply - 1)]));
}

}  // namespace memverify
