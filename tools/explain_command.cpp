#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "plan/suggest.h"
#include "plan/words.h"
#include "tools/explain_plan.h"
#include "tools/explain_texts.h"
#include "tools/parse.h"

namespace memverify {
namespace {

constexpr std::size_t kTextWidth = 88;

/// `text` in lines of at most kTextWidth columns, each after two blanks.
std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    if (column == 0 || column + 1 + length > kTextWidth) {
      out += column == 0 ? "  " : "\n  ";
      column = 0;
    } else {
      out += ' ';
      ++column;
    }
    out += text.substr(0, length);
    column += length;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return out + "\n";
}

std::string section(std::string_view title, const std::string& body, const Style& style) {
  return "\n" + style.strong(title) + "\n" + body;
}

std::string explanation(const RuleInfo& rule, const Style& style) {
  const ExplainText& text = explain_text(rule.rule);
  return style.strong(std::string(rule.id) + ": " + std::string(rule.title)) + " (" +
         std::string(name(rule.severity)) + ")\n" +
         section("What it means", wrapped(text.meaning), style) +
         section("Why it matters", wrapped(text.danger), style) +
         section("What to do", wrapped(text.remedy), style) +
         section("A plan with this finding", std::string(text.failing), style) +
         section("The same plan without it", passing_plan(text), style);
}

std::string all_rules_text(const Style& style) {
  std::string out;
  for (const Rule rule : all_rules()) {
    const RuleInfo& row = info(rule);
    out += style.strong(row.id) + "  " + std::string(row.summary) + " (" +
           std::string(name(row.severity)) + ")\n";
  }
  return out + "\n`memverify explain MV101` says more, with a failing and a passing plan.\n";
}

ExitCode unknown_rule(const std::string& id) {
  if (std::filesystem::exists(id)) {
    return usage_error("explain", memverify::quoted(id) +
                                      " is a file: ask of it with --storage, --tensor, --op or "
                                      "--peak");
  }
  std::string upper = id;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  Suggester suggester(upper);
  for (const Rule rule : all_rules()) suggester.consider(info(rule).id);
  return usage_error(
      "explain",
      "there is no rule " + memverify::quoted(id) +
          (suggester.hint().empty() ? "; `memverify explain` lists the rules" : suggester.hint()));
}

/// What is wrong with the options that ask about a plan; "" if nothing is.
std::string wrong_question(const ExplainPlanOptions& plan, const std::vector<std::string>& names) {
  const int questions = static_cast<int>(!plan.storage.empty()) +
                        static_cast<int>(!plan.tensor.empty()) +
                        static_cast<int>(!plan.op.empty()) + static_cast<int>(plan.peak);
  if (questions > 1) return "--storage, --tensor, --op and --peak exclude each other";
  if (questions == 0)
    return "--format, --pool and --iteration need a plan and --storage, --tensor, --op or --peak";
  if (names.size() != 1) return "one plan file is needed";
  if (!plan.pool.empty() && !plan.peak) return "--pool goes with --peak";
  return "";
}

ExitCode explain_rules(const std::vector<std::string>& rules, ColorMode color) {
  const Style style = Style::of(color, stdout);
  std::string out = rules.empty() ? all_rules_text(style) : "";
  for (const std::string& id : rules) {
    const RuleInfo* rule = find_rule(id);
    if (rule == nullptr) return unknown_rule(id);
    out += (out.empty() ? "" : "\n") + explanation(*rule, style);
  }
  StandardOutput output;
  output.write(out);
  return output.finish(ExitCode::kSafe);
}

}  // namespace

ExitCode explain_command(const Arguments& arguments) {
  std::vector<std::string> names;
  ExplainPlanOptions plan;
  CLI::App app(
      "Says what a rule means, with a failing and a passing plan; without a rule, lists all. Of a "
      "plan, says why bytes are still held, and what would free them.",
      "memverify explain");
  std::vector<std::string> rules;
  for (const Rule rule : all_rules()) rules.emplace_back(info(rule).id);
  app.add_option("RULE", names, "Rule ids, e.g. MV101; or a plan file; - is standard input")
      ->check(words_such_as(rules))
      ->type_name("");
  const std::vector<CLI::Option*> of_a_plan = {
      app.add_option("--storage", plan.storage, "Who uses a storage, and who comes next")
          ->type_name("ID"),
      app.add_option("--tensor", plan.tensor, "The same for what shares bytes with a tensor")
          ->type_name("ID"),
      app.add_option("--op", plan.op, "The same for the storages that an op uses")->type_name("ID"),
      app.add_flag("--peak", plan.peak, "The same for what is held when most bytes are"),
      app.add_option("--pool", plan.pool, "With --peak: of this pool alone")->type_name("ID"),
      app.add_option("--iteration", plan.iteration, "Of a plan that repeats")
          ->check(whole_from(0))
          ->type_name("N")
          ->capture_default_str(),
      app.add_option("--format", plan.format, "How to print it")
          ->check(one_of({"text", "dot", "json"}))
          ->type_name("text|dot|json")
          ->capture_default_str()};
  add_color_option(app, plan.color);
  app.footer(
      "Times are ticks of a run in which everything happens as soon as it may and takes as long "
      "as\n"
      "it may. Exit code: 0, 2 bad input or usage, 3 when clocks do not decide the plan's order.\n"
      "\n"
      "Examples:\n"
      "  memverify explain mv104\n"
      "  memverify explain plan.json --storage s0\n"
      "  memverify explain plan.json --peak --pool hbm --format dot | dot -Tsvg > peak.svg");
  if (const auto code = parse(app, arguments)) return *code;
  const bool asks_plan =
      std::ranges::any_of(of_a_plan, [](const CLI::Option* option) { return option->count() > 0; });
  if (!asks_plan) return explain_rules(names, plan.color);
  if (const std::string wrong = wrong_question(plan, names); !wrong.empty()) {
    return usage_error("explain", wrong);
  }
  plan.file = names.front();
  return explain_plan(plan);
}

}  // namespace memverify
