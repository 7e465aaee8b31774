#include "tools/option_table.h"

#include "plan/json_text.h"

namespace memverify {
namespace {

void add_names(JsonText& json, const CLI::Option& option) {
  json.key("names");
  json.open('[');
  for (const std::string& name : option.get_snames()) {
    json.next();
    json.value(std::string_view("-" + name));
  }
  for (const std::string& name : option.get_lnames()) {
    json.next();
    json.value(std::string_view("--" + name));
  }
  json.close(']');
}

/// The words that `one_of` or `words_such_as` let through: the name of the first validator.
void add_values(JsonText& json, CLI::Option& option) {
  std::string words;
  try {
    words = option.get_validator(0)->get_name();
  } catch (const CLI::OptionNotFound&) {
    return;
  }
  if (words.empty()) return;
  json.key("values");
  json.open('[');
  for (const std::string& word : CLI::detail::split(words, '|')) {
    json.next();
    json.value(std::string_view(word));
  }
  json.close(']');
}

void add_option_row(JsonText& json, CLI::Option& option) {
  json.next();
  json.open('{');
  if (option.nonpositional()) {
    add_names(json, option);
  } else {
    json.field("argument", std::string_view(option.get_name(true)));
  }
  const bool takes_value = option.get_items_expected_max() > 0;
  json.field("value", std::string_view(takes_value ? option.get_type_name() : ""));
  add_values(json, option);
  json.flag("required", option.get_required());
  json.flag("repeats", option.get_items_expected_max() > 1);
  json.field("help", std::string_view(option.get_description()));
  json.close('}');
}

}  // namespace

std::string option_table(CLI::App& app) {
  JsonText json;
  json.open('{');
  json.field("command", std::string_view(app.get_name()));
  json.field("help", std::string_view(app.get_description()));
  json.field("more", std::string_view(app.get_footer()));
  json.key("options");
  json.open('[');
  for (CLI::Option* option : app.get_options({})) {
    if (!option->get_group().empty()) add_option_row(json, *option);
  }
  json.close(']');
  json.close('}');
  return json.take() + "\n";
}

}  // namespace memverify
