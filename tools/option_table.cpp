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

void add_option_row(JsonText& json, const CLI::Option& option) {
  json.next();
  json.open('{');
  if (option.nonpositional()) {
    add_names(json, option);
  } else {
    json.field("argument", std::string_view(option.get_name(true)));
  }
  const bool takes_value = option.get_items_expected_max() > 0;
  json.field("value", std::string_view(takes_value ? option.get_type_name() : ""));
  json.flag("required", option.get_required());
  json.flag("repeats", option.get_items_expected_max() > 1);
  json.field("help", std::string_view(option.get_description()));
  json.close('}');
}

}  // namespace

std::string option_table(const CLI::App& app) {
  JsonText json;
  json.open('{');
  json.field("command", std::string_view(app.get_name()));
  json.field("help", std::string_view(app.get_description()));
  json.field("more", std::string_view(app.get_footer()));
  json.key("options");
  json.open('[');
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) add_option_row(json, *option);
  }
  json.close(']');
  json.close('}');
  return json.take() + "\n";
}

}  // namespace memverify
