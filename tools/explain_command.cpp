#include <string>
#include <vector>

#include "plan/suggest.h"
#include "plan/words.h"
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
  std::string upper = id;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  Suggester suggester(upper);
  for (const Rule rule : all_rules()) suggester.consider(info(rule).id);
  return usage_error("explain", "there is no rule " + memverify::quoted(id) + suggester.hint());
}

}  // namespace

ExitCode explain_command(const Arguments& arguments) {
  std::vector<std::string> rules;
  ColorMode color = ColorMode::kAuto;
  CLI::App app(
      "Says what a rule means, with a failing and a passing plan; without a rule, lists all.",
      "memverify explain");
  app.add_option("RULE", rules, "Rule ids, e.g. MV101")->type_name("");
  add_color_option(app, color);
  app.footer("Examples:\n  memverify explain\n  memverify explain mv104");
  if (const auto code = parse(app, arguments)) return *code;
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

}  // namespace memverify
